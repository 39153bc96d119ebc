import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { startTcp } from '../../../../test/restream/destinations.ts';
import { PacedSocket } from '../../bridges/paced-socket.ts';
import { takeLongestRead } from '../../longest-read.ts';
import { READ_BUDGETS } from '../../read-budget.ts';
import type { PushError } from '../../restream/failure.ts';
import { RtspConnection, type RtspConnectionOptions } from './connection.ts';

const EMPTY_PACKET = Buffer.from('$\0\0\0');

/** Opens a client of a server with scripted behavior. */
async function open(
  t: TestContext,
  serve: (socket: Socket) => void,
  on: Partial<Pick<RtspConnectionOptions, 'onPacket' | 'onSlice'>> = {},
) {
  const socket = connect(await startTcp(t, serve), '127.0.0.1');
  t.after(() => socket.destroy());
  const failures: PushError[] = [];
  const connection = new RtspConnection({
    paced: new PacedSocket(socket, READ_BUDGETS.rtspConnection),
    credentials: null,
    userAgent: 'Marquee',
    onPacket: () => {},
    onSlice: () => {},
    onFailure: (failure) => failures.push(failure),
    ...on,
  });
  return { connection, failures, socket };
}

test('other connections get their turn while thousands of empty packets are read', async (t) => {
  let inTurn = 0;
  let mostInTurn = 0;
  let packets = 0;
  let isOver = false;
  const turn = () => {
    inTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  t.after(() => {
    isOver = true;
  });
  const count = 40_000;
  takeLongestRead();
  await open(t, (socket) => socket.write(Buffer.concat(Array(count).fill(EMPTY_PACKET))), {
    onPacket() {
      packets += 1;
      inTurn += 1;
      mostInTurn = Math.max(mostInTurn, inTurn);
    },
  });
  await waitFor(() => packets === count);
  assert.equal(takeLongestRead()?.reader, 'RTSP source 127.0.0.1');
  assert.ok(mostInTurn <= 128, `${mostInTurn} packets in one turn`);
});

test('packets beyond the budget wait', async (t) => {
  let packets = 0;
  const { socket } = await open(t, (server) => server.write(Buffer.alloc(800_000, EMPTY_PACKET)), {
    onPacket() {
      packets += 1;
    },
  });
  await waitFor(() => packets >= READ_BUDGETS.rtspConnection.items);
  await waitFor(() => socket.isPaused());
  assert.ok(packets < READ_BUDGETS.rtspConnection.items + 20_000, `${packets} packets`);
});

test('a failure ends the loop over received packets', async (t) => {
  let packets = 0;
  const { failures } = await open(
    t,
    (socket) => socket.write(Buffer.concat(Array(10_000).fill(EMPTY_PACKET))),
    {
      onPacket() {
        packets += 1;
        if (packets === 10) throw new Error('the playout has failed');
      },
    },
  );
  await waitFor(() => failures.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(packets, 10);
  assert.equal(failures.length, 1);
});

/** Returns a server that sends this response to the first request, in chunks of the given size. */
function answering(response: string, pieceBytes: number): (socket: Socket) => void {
  return (socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('data', async () => {
      for (let at = 0; at < response.length && socket.writable; at += pieceBytes) {
        if (!socket.write(response.slice(at, at + pieceBytes))) await once(socket, 'drain');
        if (at % (64 * pieceBytes) === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    });
  };
}

test('a response that arrives in small chunks is read when it is complete', async (t) => {
  const body = 'v=0\r\n'.repeat(2000);
  const { connection } = await open(
    t,
    answering(`RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 7),
  );
  assert.equal((await connection.ask('DESCRIBE', 'rtsp://127.0.0.1/a')).body, body);
});

test('a response with a head or a body that is too large is refused', async (t) => {
  const responses = [
    `RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: ${READ_BUDGETS.rtspDescription.bytes + 1}\r\n\r\n`,
    'RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 1.5\r\n\r\nv=',
    `RTSP/1.0 200 OK\r\nX: ${'a'.repeat(17_000)}`,
  ];
  for (const response of responses) {
    const { connection, failures } = await open(t, answering(response, 5000));
    connection.tell('OPTIONS', 'rtsp://127.0.0.1/a');
    await waitFor(() => failures.length > 0, { message: response.slice(0, 80) });
    assert.match(failures[0]?.message ?? '', /did not return a valid RTSP response/);
  }
});
