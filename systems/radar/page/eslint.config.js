// The rules of page/, for these files.
import rules from '../../../page/eslint.config.js';

export default [...rules, { languageOptions: { parserOptions: { tsconfigRootDir: import.meta.dirname } } }];
