import { render } from 'preact';
import { watchServer } from './api/connection';
import { followHistory } from './selection/current';
import { listenForKeys } from './shell/keys';
import { Page } from './shell/page';
import { followTheme } from './shell/theme';
import './shell/style.css';

const root = document.getElementById('page');
if (root === null) throw new Error('index.html has no element #page');
followTheme();
followHistory();
listenForKeys();
watchServer();
root.textContent = '';
render(<Page />, root);
