import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type WebSocket, WebSocketServer } from 'ws';
import type { EngineConnection, RoomEngine, RoomPermissions } from '../../src/media/rooms/engine.ts';
import type { OpenOptions, TestBrowser } from '../harness/browser.ts';
import { waitFor } from '../harness/wait-for.ts';

const CLIENT = join(import.meta.dirname, '../../web/room/client');
const LIVEKIT_CLIENT = join(
  import.meta.dirname,
  '../../node_modules/livekit-client/dist/livekit-client.esm.mjs',
);
const PAGE_SCRIPT = join(import.meta.dirname, 'studio-page.js');
const ALL: RoomPermissions = {
  canPublish: true,
  canSubscribe: true,
  canPublishData: true,
  canScreenShare: true,
};

type Source = 'CAMERA' | 'MICROPHONE' | 'SCREEN';

/** Statistics of a track that a page receives from another participant. */
export interface ReceivedTrack {
  /** Decoded frames; 0 for audio. */
  frames: number;
  /** Total audio energy, 0 for silence. */
  energy: number;
  width: number;
}

/** Participant in a browser, with fake devices. */
export interface Guest {
  identity: string;
  page: Page;
  publish(...sources: Source[]): Promise<void>;
  unpublish(source: Source): Promise<void>;
  arrived(from: string, source: Source, kind: 'audio' | 'video'): Promise<ReceivedTrack | null>;
  /** Waits until video or audio has arrived from the source after this call. */
  sees(from: string, source?: Source): Promise<void>;
  hears(from: string): Promise<void>;
  /** Kinds of ICE candidates that its connections use. */
  ways(): Promise<string[]>;
  /** States reported by the engine, with the time on the clock of the test. */
  told: { state: string; at: number }[];
  leave(): Promise<void>;
}

export interface StudioOptions {
  browser: TestBrowser;
  engine: RoomEngine;
  iceServers?: object[];
  /** Options of every page. */
  page?: OpenOptions;
  /** Address of the pages. Default: a free port of 127.0.0.1. */
  address?: { host: string; port: number };
}

/** Room with a minimal gateway, which forwards messages between browser and engine. */
export interface Studio {
  enter(identity: string, permissions?: Partial<RoomPermissions>, by?: TestBrowser): Promise<Guest>;
  /** Removes a participant like a host: from the engine and the gateway. */
  kick(identity: string): Promise<void>;
  ref: string;
  close(): Promise<void>;
}

interface Seat {
  socket: WebSocket;
  identity: string;
  permissions: RoomPermissions;
  connection: EngineConnection | null;
}

export async function openStudio(options: StudioOptions): Promise<Studio> {
  const { engine, browser } = options;
  const spec = { roomId: `room_${crypto.randomUUID()}`, maxParticipants: 8 };
  const { ref } = await waitFor(() => engine.createRoom(spec), { timeoutMs: 5000 });
  const seats = new Map<string, Seat>();
  const wanted = new Map<string, RoomPermissions>();
  const guests = new Map<string, Guest>();
  const tell = (seat: Seat, message: object) => seat.socket.send(JSON.stringify(message));
  const tellPeers = () => {
    for (const seat of seats.values())
      tell(seat, { peers: [...seats.keys()].filter((one) => one !== seat.identity) });
  };
  const connect = async (seat: Seat) => {
    const { identity, permissions } = seat;
    const peer = { identity, name: null, role: 'SPEAKER' as const, permissions };
    seat.connection = await engine.connect(ref, peer, (signal) => tell(seat, { signal }));
  };
  let isOver = false;
  engine.onEvent((event) => {
    if (isOver || (event.type !== 'down' && event.type !== 'up')) return;
    for (const [identity, seat] of seats) {
      guests.get(identity)?.told.push({ state: event.type, at: performance.now() });
      if (event.type === 'down') tell(seat, { engine: 'down' });
    }
    if (event.type === 'down') return;
    void engine.createRoom(spec).then(async () => {
      for (const seat of seats.values()) await connect(seat).then(() => tell(seat, { engine: 'up' }));
    });
  });

  const host = options.address?.host ?? '127.0.0.1';
  const server = createServer((request, response) => void serve(request, response));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    const identity = decodeURIComponent((request.url ?? '/').slice(1));
    const seat: Seat = { socket, identity, permissions: wanted.get(identity) ?? ALL, connection: null };
    seats.set(identity, seat);
    socket.on('message', (data) => {
      void seat.connection?.signal(JSON.parse(String(data))).catch((error: unknown) => {
        tell(seat, { refused: String(error) });
      });
    });
    socket.on('close', () => {
      if (seats.get(identity) === seat) seats.delete(identity);
      void seat.connection?.close();
      if (!isOver) tellPeers();
    });
    tell(seat, { welcome: engine.name, iceServers: options.iceServers ?? [] });
    void connect(seat).then(tellPeers);
  });
  await new Promise<void>((resolve) => server.listen(options.address?.port ?? 0, host, resolve));
  const { port } = server.address() as AddressInfo;

  return {
    ref,
    async enter(identity, permissions = {}, by = browser) {
      wanted.set(identity, { ...ALL, ...permissions });
      const address = `http://${host}:${port}/?identity=${encodeURIComponent(identity)}`;
      const { page, close } = await by.open(address, options.page);
      const guest = guestOf(identity, page, close);
      guests.set(identity, guest);
      await page.waitForFunction('window.studio?.isIn');
      return guest;
    },
    async kick(identity) {
      await engine.removeParticipant(ref, identity);
      seats.get(identity)?.socket.close();
    },
    async close() {
      isOver = true;
      await engine.endRoom(ref);
      for (const guest of guests.values()) await guest.leave();
      sockets.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function guestOf(identity: string, page: Page, close: () => Promise<void>): Guest {
  const ask = (expression: string) => page.evaluate(`window.studio.${expression}`) as Promise<unknown>;
  const arrived: Guest['arrived'] = async (from, source, kind) =>
    (await ask(`arrived(${JSON.stringify(`${from} ${source} ${kind}`)})`)) as ReceivedTrack | null;
  const grows = async (of: () => Promise<number>, message: string) => {
    const before = await of();
    await waitFor(async () => (await of()) > before, { timeoutMs: 10_000, intervalMs: 100, message });
  };
  return {
    identity,
    page,
    arrived,
    told: [],
    publish: async (...sources) => void (await ask(`publish(${JSON.stringify(sources)})`)),
    unpublish: async (source) => void (await ask(`unpublish(${JSON.stringify(source)})`)),
    sees: (from, source = 'CAMERA') =>
      grows(
        async () => (await arrived(from, source, 'video'))?.frames ?? 0,
        `${identity} decodes ${source} of ${from}`,
      ),
    hears: (from) =>
      grows(
        async () => (await arrived(from, 'MICROPHONE', 'audio'))?.energy ?? 0,
        `${identity} hears ${from}`,
      ),
    ways: async () => (await ask('ways()')) as string[],
    leave: close,
  };
}

/** Serves the page, its script, and the client engines of the repository. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://studio').pathname;
  const [, name] = /^\/client\/([a-z-]+\.ts)$/.exec(path) ?? [];
  if (path === '/') {
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><link rel="icon" href="data:,">
      <script type="importmap">{"imports":{"livekit-client":"/livekit-client.js"}}</script>
      <script type="module" src="/studio.js"></script>`,
    );
    return;
  }
  response.setHeader('content-type', 'text/javascript');
  if (path === '/studio.js') response.end(await readFile(PAGE_SCRIPT));
  else if (path === '/livekit-client.js') response.end(await readFile(LIVEKIT_CLIENT));
  else if (name !== undefined) response.end(stripTypeScriptTypes(await readFile(join(CLIENT, name), 'utf8')));
  else response.writeHead(404).end();
}
