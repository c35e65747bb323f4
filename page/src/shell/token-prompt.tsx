import { useEffect, useRef } from 'preact/hooks';
import { token, tokenWanted } from '../api/connection';
import { showToken } from '../api/watch';

/** Asks for the server's token, once it has refused to answer without. */
export function TokenPrompt() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (tokenWanted.value && dialog.current?.open === false) dialog.current.showModal();
  }, [tokenWanted.value]);
  const submit = () => {
    const text = field.current?.value.trim() ?? '';
    if (text !== '') showToken(text);
  };
  return (
    <dialog ref={dialog} class="sheet" aria-labelledby="token-title">
      <form method="dialog" onSubmit={submit}>
        <h2 id="token-title">{token.value === '' ? 'This server requires a token' : 'The token was refused'}</h2>
        <p>The token is in the file that <code>chronoscope serve --token</code> names. The page keeps it in this tab only.</p>
        <label>Token <input ref={field} type="password" autocomplete="off" required autofocus /></label>
        <button type="submit">Show it</button>
      </form>
    </dialog>
  );
}
