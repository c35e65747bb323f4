// The socket to the process: frames and words in, acknowledgements out, and back again when it is
// lost.

import { decode, words, type Frame, type Status } from './wire';

/** Callbacks for the messages and state of the connection. */
export interface Listener {
  /** A frame, and its octets, which may be given away. */
  readonly frame: (frame: Frame, octets: ArrayBuffer) => void;
  readonly status: (status: Status) => void;
  /** The connection was established (true) or lost (false). */
  readonly there: (there: boolean) => void;
  /** Nothing has come for some time, although the connection stands. */
  readonly quiet: () => void;
  /** The process sent a message that this page does not understand. */
  readonly broken: (why: string) => void;
}

/** First pause before another attempt, ms, and the longest. */
const PAUSE_MS = [250, 2000] as const;
/** A process that is silent for this time counts as lost, ms; it sends a ping every second. */
const SILENT_MS = 5000;
/** After this time without a word the picture is not to be taken for the present one, ms. */
const QUIET_MS = 2500;

export class Connection {
  private socket: WebSocket | undefined;
  private pause: number = PAUSE_MS[0];
  private silent: ReturnType<typeof setTimeout> | undefined;
  private quiet: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly listener: Listener) {
    document.addEventListener('visibilitychange', () => this.sayVisible());
    this.open();
  }

  /** Tells the process that a frame is on the screen. */
  acknowledge(frame: number): void {
    this.say({ ack: frame });
  }

  /** Tells the process how much later than its acknowledgement a frame was presented. */
  presentedLater(ms: number): void {
    this.say({ later_us: Math.max(0, Math.round(ms * 1000)) });
  }

  private say(words: Readonly<Record<string, unknown>>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(words));
  }

  /** Tells the process whether the page is visible: a hidden page draws nothing and acknowledges nothing. */
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
      clearTimeout(this.quiet);
      this.listener.there(false);
      setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(PAUSE_MS[1], this.pause * 2);
    };
  }

  private take(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      this.listener.frame(decode(data), data);
    } else if (typeof data === 'string') {
      const said = words(data);
      if (said?.kind === 'ping') this.say({ pong: said.ping });
      else if (said !== null) this.listener.status(said);
    }
  }

  private heard(socket: WebSocket): void {
    clearTimeout(this.silent);
    this.silent = setTimeout(() => socket.close(), SILENT_MS);
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => this.listener.quiet(), QUIET_MS);
  }
}
