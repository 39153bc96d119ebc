import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { createOutbound, GuardError, type Outbound, OutboundError } from './index.ts';
import { createResolver, type NameResolver } from './resolve.ts';

type Answer = { a?: number[][]; aaaa?: number[][]; cname?: string; rcode?: number };

/** Records of the test's name server (RFC 1035 answers, handmade because a library gets AAAA wrong). */
const zone: Record<string, Answer> = {
  'public.example': { a: [[1, 1, 1, 1]], aaaa: [[0x2606, 0x4700, 0, 0, 0, 0, 0, 0x1111]] },
  'private.example': { a: [[10, 0, 0, 1]] },
  'mixed.example': {
    a: [
      [1, 1, 1, 1],
      [192, 168, 0, 1],
    ],
  },
  'split.example': { a: [[1, 1, 1, 1]], aaaa: [[0, 0, 0, 0, 0, 0, 0, 1]] },
  'mapped.example': { aaaa: [[0, 0, 0, 0, 0, 0xffff, 0x7f00, 1]] },
  'alias.example': { cname: 'private.example' },
  'six.example': { aaaa: [[0x2606, 0x4700, 0, 0, 0, 0, 0, 0x1111]] },
  'empty.example': {},
  'broken.example': { rcode: 2 },
};

const TYPE_A = 1;
const TYPE_CNAME = 5;
const TYPE_AAAA = 28;

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

function record(name: string, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), head, data]);
}

function groups(words: number[]): Buffer {
  return Buffer.concat(words.map((word) => Buffer.of(word >> 8, word & 255)));
}

function answersFor(name: string, type: number): Buffer[] {
  const known = zone[name] ?? {};
  if (known.cname !== undefined) {
    return [record(name, TYPE_CNAME, encodeName(known.cname)), ...answersFor(known.cname, type)];
  }
  const values = type === TYPE_A ? known.a?.map((bytes) => Buffer.from(bytes)) : known.aaaa?.map(groups);
  return (values ?? []).map((data) => record(name, type === TYPE_A ? TYPE_A : TYPE_AAAA, data));
}

function respond(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  const name = labels.join('.');
  const answers = answersFor(name, query.readUInt16BE(at + 1));
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  const rcode = zone[name] === undefined ? 3 : (zone[name].rcode ?? 0);
  header.writeUInt16BE(0x8180 | rcode, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  return Buffer.concat([header, query.subarray(12, at + 5), ...answers]);
}

const server = createSocket('udp4');
let resolver: NameResolver;
let outbound: Outbound;

before(async () => {
  server.on('message', (query, from) => server.send(respond(query), from.port, from.address));
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const servers = [`127.0.0.1:${server.address().port}`];
  resolver = createResolver(servers);
  outbound = createOutbound({ allowPrivate: [], dnsServers: servers });
});
after(async () => {
  resolver.close();
  await outbound.close();
  server.close();
});

const post = (name: string) =>
  outbound.request({ url: `https://${name}:1/`, method: 'POST', headers: {}, timeoutMs: 3000 });

test('both families are asked, IPv4 comes first, and one of them is enough', async () => {
  assert.deepEqual(await resolver.publicName('public.example'), ['1.1.1.1', '2606:4700::1111']);
  assert.deepEqual(await resolver.publicName('six.example'), ['2606:4700::1111']);
});

test('a name without addresses fails with the name server’s reason', async () => {
  for (const [name, code] of [
    ['missing.example', 'ENOTFOUND'],
    ['empty.example', 'ENODATA'],
    ['broken.example', 'ESERVFAIL'],
  ] as const) {
    await assert.rejects(resolver.publicName(name), new OutboundError('dns', code));
    await assert.rejects(post(name), new OutboundError('dns', code));
    await outbound.checkUrl(`https://${name}/`);
  }
});

test('any answer that is not public refuses the name, at registration and at delivery', async () => {
  for (const [name, reason] of [
    ['private.example', 'private address'],
    ['mixed.example', 'private address'],
    ['split.example', 'loopback address'],
    ['mapped.example', 'IPv4-mapped address'],
    ['alias.example', 'private address'],
  ] as const) {
    await assert.rejects(outbound.checkUrl(`https://${name}/`), new GuardError(reason), name);
    await assert.rejects(post(name), new GuardError(reason), name);
  }
  await outbound.checkUrl('https://public.example/');
});

test('an allowed name is asked of the system, which knows localhost', async () => {
  assert.ok((await resolver.allowedName('localhost')).includes('127.0.0.1'));
});
