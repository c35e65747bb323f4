// The socket to the process: frames and words in, acknowledgements out, and back again when it is
// lost.

import { decode, words, type Frame, type Status } from './wire';

/** What the page does with what comes. */
export interface Listener {
  readonly frame: (frame: Frame) => void;
  readonly status: (status: Status) => void;
  /** Whether the process is there. */
  readonly there: (there: boolean) => void;
  /** It said what this page does not understand. */
  readonly broken: (why: string) => void;
}

/** First pause before another attempt, ms, and the longest. */
const PAUSE_MS = [250, 2000] as const;
/** With pings once a second, a process that says nothing for so long is lost, ms. */
const SILENT_MS = 5000;

export class Connection {
  private socket: WebSocket | undefined;
  private pause: number = PAUSE_MS[0];
  private silent: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly listener: Listener) {
    document.addEventListener('visibilitychange', () => this.sayVisible());
    this.open();
  }

  /** A frame is on the screen. */
  acknowledge(frame: number): void {
    this.say({ ack: frame });
  }

  /** A frame was presented so much later than it was acknowledged. */
  presentedLater(ms: number): void {
    this.say({ later_us: Math.max(0, Math.round(ms * 1000)) });
  }

  private say(words: Readonly<Record<string, unknown>>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(words));
  }

  /** A page that nobody sees draws nothing, and would acknowledge nothing. */
  private sayVisible(): void {
    this.say({ visible: document.visibilityState === 'visible' });
  }

  private open(): void {
    const url = new URL('socket', location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = '';
    url.hash = '';
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      this.pause = PAUSE_MS[0];
      this.listener.there(true);
      this.heard(socket);
      this.sayVisible();
    };
    socket.onmessage = ({ data }) => {
      this.heard(socket);
      try {
        this.take(data);
      } catch (error) {
        this.listener.broken(error instanceof Error ? error.message : String(error));
      }
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = undefined;
      clearTimeout(this.silent);
      this.listener.there(false);
      setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(PAUSE_MS[1], this.pause * 2);
    };
  }

  private take(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      this.listener.frame(decode(data));
    } else if (typeof data === 'string') {
      const said = words(data);
      if (said?.kind === 'ping') this.say({ pong: said.ping });
      else if (said !== null) this.listener.status(said);
    }
  }

  private heard(socket: WebSocket): void {
    clearTimeout(this.silent);
    this.silent = setTimeout(() => socket.close(), SILENT_MS);
  }
}
