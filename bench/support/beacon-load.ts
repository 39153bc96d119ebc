import { connect, type Socket } from 'node:net';

/** Message to the generator: first its viewers, then its rate. */
export type LoadOptions =
  | { port: number; sessions: string[] }
  /** Beacons per second, evenly spaced; null: as fast as they are answered; 0: none. */
  | { rate: number | null };

const CONNECTIONS = 32;
const TICK_MS = 10;
const ANSWER = 'HTTP/1.1 204';
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

/**
 * Viewers who send beacons, each with its own IP address. They run in a separate process from the bench,
 * which measures.
 */
class Crowd {
  readonly #sessions: readonly string[];
  readonly #sockets: Socket[] = [];
  #next = 0;
  #answered = 0;
  #isClosedLoop = false;

  constructor(port: number, sessions: readonly string[]) {
    this.#sessions = sessions;
    for (let n = 0; n < CONNECTIONS; n++) {
      const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
      socket.on('data', (text) => this.#read(socket, String(text)));
      this.#sockets.push(socket);
    }
  }

  get answered(): number {
    return this.#answered;
  }

  /** Sends one request on each connection, and another one after each response. */
  loop(isOn: boolean): void {
    const begins = isOn && !this.#isClosedLoop;
    this.#isClosedLoop = isOn;
    if (begins) for (const socket of this.#sockets) this.#send(socket);
  }

  send(count: number): void {
    for (let n = 0; n < count; n++) {
      const socket = this.#sockets[this.#next % CONNECTIONS];
      if (socket !== undefined) this.#send(socket);
    }
  }

  #read(socket: Socket, text: string): void {
    const answers = text.split(ANSWER).length - 1;
    this.#answered += answers;
    if (this.#isClosedLoop) for (let n = 0; n < answers; n++) this.#send(socket);
  }

  #send(socket: Socket): void {
    const index = this.#next % this.#sessions.length;
    const n = Math.floor(this.#next / this.#sessions.length);
    this.#next += 1;
    const at = Math.round(performance.timeOrigin + performance.now());
    const event = { type: n === 0 ? 'PLAY' : 'TICK', positionSec: n * 15, at, quality: 720 };
    const body = JSON.stringify({ session: this.#sessions[index], n, sentAt: at, events: [event] });
    const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
    socket.write(
      `POST /playback/beacon HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: ${address}\r\nUser-Agent: ${AGENT}\r\n` +
        `Content-Type: text/plain;charset=UTF-8\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }
}

let crowd: Crowd | undefined;
let timer: NodeJS.Timeout | undefined;

function pace(rate: number): void {
  const begun = performance.now();
  let sent = 0;
  timer = setInterval(() => {
    const due = Math.floor(((performance.now() - begun) / 1000) * rate);
    crowd?.send(due - sent);
    sent = due;
  }, TICK_MS);
}

process.on('message', (order: LoadOptions) => {
  if ('port' in order) {
    crowd = new Crowd(order.port, order.sessions);
    return;
  }
  clearInterval(timer);
  crowd?.loop(order.rate === null);
  if (order.rate !== null && order.rate > 0) pace(order.rate);
  // Sends the number of responses.
  process.send?.(crowd?.answered ?? 0);
});
process.once('disconnect', () => process.exit());
