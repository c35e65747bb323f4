// Managing the stored transactions: deleting the selected time, after it was said what that takes,
// and importing a file. The server refuses both without a token that may write.

import './style.css';
import { useRef, useState } from 'preact/hooks';
import { change, upload } from '../../api/client';
import { useQuestion } from '../../api/question';
import type { ManagedData, RangeContent } from '../../api/types';
import { formatCount, formatRange, formatTime } from '../../draw/format';
import { place } from '../../selection/current';
import { readMarks } from '../../selection/marks';
import { Answer } from '../../shell/answer';
import { contentWords, importWords, tooLarge } from './words';

/** The view `/data`. */
export function DataView() {
  const question = useQuestion('data');
  return (
    <Answer to={question} what="Asking what can be managed">
      {(data) => (
        <>
          {data.refused !== null && <p class="notice warn" role="note">Nothing can be changed from here: {data.refused}.</p>}
          <div class="data">
            <Deletion data={data} done={question.again} />
            <Import data={data} />
            <Deletions data={data} />
          </div>
        </>
      )}
    </Answer>
  );
}

/** What the server made of a change, or why it refused. */
function Outcome({ done, problem }: { done: string; problem: string }) {
  return (
    <>
      {problem !== '' && <p class="notice problem" role="alert">{problem}</p>}
      {done !== '' && <p class="notice" role="status">{done}</p>}
    </>
  );
}

function Deletion({ data, done }: { data: ManagedData; done: () => void }) {
  const { from_ns, until_ns } = place().selection;
  const [said, setSaid] = useState('');
  const range = from_ns !== undefined && until_ns !== undefined;
  return (
    <section class="panel" aria-label="Delete a time">
      <h2>Delete a time</h2>
      {!data.can_delete ? <p class="quiet">Ranges are deleted from a store of files only.</p> : !range ? (
        <p class="quiet">Choose a time with a beginning and an end in the bar above. Chains go by the start of their roots.</p>
      ) : <Chosen key={`${from_ns} ${until_ns}`} range={{ from_ns, until_ns }} refused={data.refused !== null} done={(sentence) => { setSaid(sentence); done(); }} />}
      <Outcome done={said} problem="" />
    </section>
  );
}

interface Range {
  readonly from_ns: number;
  readonly until_ns: number;
}

function Chosen({ range, refused, done }: { range: Range; refused: boolean; done: (sentence: string) => void }) {
  const question = useQuestion('range', [['from_ns', range.from_ns], ['until_ns', range.until_ns]]);
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  const erase = ({ rows }: RangeContent) => {
    setProblem('');
    change('data/deletion', { ...range, rows_max: rows }).then((deleted) => {
      done(`${formatCount(deleted.rows)} rows were deleted`);
      question.again();
      void readMarks();
    }).catch((error: unknown) => {
      setProblem(error instanceof Error ? error.message : String(error));
      question.again();
    });
  };
  return (
    <Answer to={question} what="Counting what lies in this time">
      {(content) => (
        <>
          <p>{formatRange(range.from_ns, range.until_ns)} UTC:<br /><strong>{contentWords(content)}</strong></p>
          <div class="acts">
            <button type="button" disabled={refused || content.rows === 0} onClick={() => dialog.current?.showModal()}>Delete …</button>
          </div>
          <Outcome done="" problem={problem} />
          <dialog ref={dialog} class="sheet" aria-labelledby="delete-title">
            <h2 id="delete-title">Delete {formatCount(content.rows)} rows?</h2>
            <p>{contentWords(content)}: all of it is deleted for good. Questions over this time will say so.</p>
            <form method="dialog">
              <button type="submit" autofocus>Keep them</button>
              <button type="submit" onClick={() => erase(content)}>Delete {formatCount(content.rows)} rows</button>
            </form>
          </dialog>
        </>
      )}
    </Answer>
  );
}

function Import({ data }: { data: ManagedData }) {
  const field = useRef<HTMLInputElement>(null);
  const [running, setRunning] = useState(false);
  const [{ done, problem }, setOutcome] = useState({ done: '', problem: '' });
  const send = (event: Event) => {
    event.preventDefault();
    const file = field.current?.files?.[0];
    if (file === undefined || running) return;
    const refused = tooLarge(file, data.upload_bytes_max);
    setOutcome({ done: '', problem: refused });
    if (refused !== '') return;
    setRunning(true);
    upload(file).then((imported) => {
      setOutcome({ done: importWords(file.name, imported), problem: '' });
      void readMarks();
    }).catch((error: unknown) => setOutcome({ done: '', problem: error instanceof Error ? error.message : String(error) })).finally(() => setRunning(false));
  };
  return (
    <section class="panel" aria-label="Import a file">
      <h2>Import a file</h2>
      <p class="quiet">CSV, XML or Parquet, as <code>chronoscope export</code> writes them. The whole file is checked before any of it is stored; the same content is stored once.</p>
      <form onSubmit={send}>
        <input ref={field} type="file" aria-label="file of transactions" disabled={data.refused !== null || !data.can_import} />
        <button type="submit" disabled={data.refused !== null || !data.can_import || running}>{running ? 'Importing …' : 'Import'}</button>
      </form>
      <Outcome done={done} problem={problem} />
    </section>
  );
}

function Deletions({ data: { deletions } }: { data: ManagedData }) {
  return (
    <section class="panel scroll log" aria-label="Deleted on request">
      <table>
        <caption>Deleted on request</caption>
        <thead><tr><th scope="col">From, UTC</th><th scope="col">Until, UTC</th><th scope="col" class="number">Rows</th><th scope="col">Deleted, UTC</th><th scope="col">By</th></tr></thead>
        <tbody>
          {deletions.map((of) => (
            <tr key={`${of.from_ns} ${of.until_ns} ${of.at_ns}`}>
              <td>{formatTime(of.from_ns, 0)}</td><td>{formatTime(of.until_ns, 0)}</td><td class="number">{formatCount(of.rows)}</td>
              <td>{formatTime(of.at_ns, 0)}</td><td>{of.by === '' ? '–' : of.by}</td>
            </tr>
          ))}
          {deletions.length === 0 && <tr><td colSpan={5} class="quiet">nothing yet</td></tr>}
        </tbody>
      </table>
    </section>
  );
}
