import { Socket } from 'node:net';

/** Socket without a network: `receive` supplies input, and output is discarded. */
export class FakeSocket extends Socket {
  receive(bytes: Buffer): void {
    this.emit('data', bytes);
  }
  override write(): boolean {
    return true;
  }
  override end(): this {
    return this.destroy();
  }
  override pause(): this {
    return this;
  }
  override resume(): this {
    return this;
  }
}

/** Iterations of the event loop in which a reader handles its input in slices. */
const TURNS = 40;

export async function letReadersFinish(socket: Socket): Promise<void> {
  for (let turn = 0; turn < TURNS && !socket.destroyed; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.destroy();
}
