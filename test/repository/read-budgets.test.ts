import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { READ_BUDGETS, type ReadBudget } from '../../src/media/read-budget.ts';

const ROOT = join(import.meta.dirname, '../..');
const MEDIA = 'src/media';
const PAGE = 'docs/decisions/hostile-input.md';

/** Constructs that read from a network: sockets, datagrams, downloads and WebSockets. */
const READS = [
  /\.on\(\s*'(?:data|message)'/,
  /\.(?:download|datagrams)\(/,
  /\boutbound\s*\.connect\(/,
  /\bfetch\(/,
  /\bnew WebSocket\(/,
  /\bcreate(?:Tls)?Server\(/,
  /\bondatachannel\b/,
];
const BUDGET = /\b(?:READ_BUDGETS|ReadBudget|ReadMeter)\b/;

/** Files that read from a network without a budget, and the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/media/ffmpeg/process.ts': 'reads the output of our own programs',
  'src/media/ingest/embedded-rtmp.ts': 'accepts connections, which ingest/rtmp/connection.ts reads',
  'src/media/nodes/node-client.ts': 'calls nodes of the same installation, which hold its key',
  'src/media/nodes/node-server.ts': 'serves nodes of the same installation, and reads no bodies',
  'src/media/restream/rtmp-push.ts': 'connects, and restream/rtmp-client.ts reads',
  'src/media/restream/srt-push.ts': 'connects, and restream/srt-connection.ts reads',
  'src/media/rooms/janus/client.ts': 'reads the Janus of this machine, which limits what browsers send',
  'src/media/rooms/janus/process.ts': 'opens a server for a moment, to find a free port',
  'src/media/rooms/janus/tap.ts':
    'hands packets to bridges/room-source.ts, which has the budget of each track',
  'src/media/rooms/livekit/hidden-participant.ts':
    'reads the LiveKit server that the operator has configured',
  'src/media/whep/whep-manager.ts': 'notes that a packet came, and reads nothing of it',
};

/** The source without its comments. */
const codeOf = (source: string) => source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*/g, '$1');
const isReader = (source: string) => READS.some((pattern) => pattern.test(codeOf(source)));
const hasBudget = (source: string) => BUDGET.test(codeOf(source));

const sources = readdirSync(join(ROOT, MEDIA), { recursive: true, encoding: 'utf8' })
  .map((path) => `${MEDIA}/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, source: readFileSync(join(ROOT, path), 'utf8') }));

interface Row {
  reader: string;
  budget: ReadBudget;
  /** Consequence of exceeding the budget, and its reason. */
  texts: string[];
}

/** Rows of the table of readers. */
function rowsOf(page: string): Row[] {
  return page.split('\n').flatMap((line) => {
    const [, reader, ...cells] =
      /^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([^|]*) \| ([^|]*) \|$/.exec(line) ?? [];
    if (reader === undefined) return [];
    const [items = 0, bytes = 0, ms = 0] = cells.slice(0, 3).map((cell) => Number(cell.replaceAll(',', '')));
    return [{ reader, budget: { items, bytes, ms }, texts: cells.slice(3) }];
  });
}

test('the scan sees every way to read from a network', () => {
  const readers = [
    "socket.on('data', (data: Buffer) => read(data));",
    "socket.on(\n  'message', read);",
    'await outbound.download({ url });',
    'await outbound.datagrams({ url, port });',
    'await outbound\n  .connect({ url, port });',
    'const answer = await fetch(url);',
    'new WebSocket(address)',
    'createServer((socket) => {})',
    'createTlsServer(options)',
    'peer.ondatachannel = take;',
  ];
  for (const code of readers) assert.ok(isReader(code), code);
  for (const code of [
    "emitter.on('close', end);",
    "// socket.on('data', read)",
    'prefetch(url)',
    'room.connect(a)',
  ])
    assert.ok(!isReader(code), code);
  assert.ok(hasBudget('new ReadMeter(READ_BUDGETS.hlsFetch)'));
  assert.ok(!hasBudget('// READ_BUDGETS.hlsFetch'));
});

test('every file of the media that reads from a network has a budget, or a reason to have none', () => {
  const readers = sources.filter(({ source }) => isReader(source));
  assert.ok(readers.length > 15, 'the scan finds the readers');
  const missing = readers.filter(({ path, source }) => !hasBudget(source) && EXCEPTIONS[path] === undefined);
  assert.deepEqual(
    missing.map(({ path }) => path),
    [],
  );
});

test('no exception remains for a file that has a budget or reads nothing', () => {
  const needless = Object.keys(EXCEPTIONS).filter((path) => {
    const source = sources.find((one) => one.path === path)?.source ?? '';
    return !isReader(source) || hasBudget(source);
  });
  assert.deepEqual(needless, []);
});

test('every budget has a row with its numbers, and every row a budget', () => {
  const rows = rowsOf(readFileSync(join(ROOT, PAGE), 'utf8'));
  assert.deepEqual(Object.fromEntries(rows.map(({ reader, budget }) => [reader, budget])), READ_BUDGETS);
  const readers = rows.map(({ reader }) => reader);
  assert.deepEqual(readers, readers.toSorted(), 'the rows are in the order of their readers');
  assert.deepEqual(
    rows.filter(({ texts }) => texts.some((text) => text.trim().length < 10)).map(({ reader }) => reader),
    [],
    'each row says what happens and why',
  );
});

test('every budget is used', () => {
  const code = sources.map(({ source }) => codeOf(source)).join('\n');
  const unused = Object.keys(READ_BUDGETS).filter((reader) => !code.includes(`READ_BUDGETS.${reader}`));
  assert.deepEqual(unused, []);
});

test('rows with other numbers, and files without a budget, are found', () => {
  const row = '| `hlsFetch` | 100 | 600,000,000 | 10,000 | the next file waits | segments are large |';
  assert.deepEqual(rowsOf(row)[0]?.budget, READ_BUDGETS.hlsFetch);
  assert.notDeepEqual(rowsOf(row.replace('100', '1,000'))[0]?.budget, READ_BUDGETS.hlsFetch);
});
