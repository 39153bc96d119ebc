import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestDns, type TestDns } from '../../../../test/harness/dns.ts';
import { type HttpsSink, startHttpsSink } from '../../../../test/harness/https-sink.ts';
import { trust } from '../../../../test/webhooks/fixture.ts';
import {
  createOutbound,
  createTxtResolver,
  type Outbound,
  type TxtResolver,
} from '../../../platform/outbound/index.ts';
import { createDomainVerifier, type DomainVerifier } from './verification.ts';

const DOMAIN = 'shop.example.com';
const TOKEN = 'AbCdEfGhIjKlMnOpQrStUvWxYz012345';
const VALUE = `svc-domain-verify=${TOKEN}`;
const PATH = '/.well-known/svc-domain-verification.txt';

let dns: TestDns;
let sink: HttpsSink;
let outbound: Outbound;
let txt: TxtResolver;
let prover: DomainVerifier;

before(async () => {
  dns = await startTestDns();
  sink = await startHttpsSink({ names: [DOMAIN, 'other.example.com'] });
  trust(sink);
  dns.a.set(DOMAIN, ['127.0.0.1']);
  dns.a.set('other.example.com', ['127.0.0.1']);
  dns.a.set('private.example.com', ['10.0.0.1']);
  outbound = createOutbound({ allowPrivate: ['127.0.0.1'], dnsServers: [dns.address] });
  txt = createTxtResolver([dns.address]);
  prover = createDomainVerifier({
    txt,
    // The program connects to port 443; the test server uses another port.
    fetcher: {
      download: (request) => {
        const url = new URL(request.url);
        assert.equal(url.port, '');
        url.port = String(sink.port);
        return outbound.download({ ...request, url: url.href });
      },
    },
  });
});
after(async () => {
  txt.close();
  await outbound.close();
  await sink.close();
  await dns.close();
});

const look = (domain = DOMAIN, include_subdomains = false) =>
  prover.look({ domain, token: TOKEN, include_subdomains });

test('the value verifies as the whole file, or as one of its lines', async () => {
  for (const body of [VALUE, `${VALUE}\n`, `svc-domain-verify=other\r\n${VALUE}\r\n`]) {
    sink.reply = ({ path }) => (path === PATH ? { body } : { status: 404 });
    assert.equal((await look()).file, true, JSON.stringify(body));
  }
});

test('a wrong, incomplete, oversized or missing value does not verify', async () => {
  const replies: [reply: () => object, error: RegExp][] = [
    [() => ({ body: `x${VALUE}` }), /does not contain the value/],
    [() => ({ body: VALUE.toLowerCase() }), /does not contain the value/],
    [() => ({ body: `${VALUE}\n${'x'.repeat(1024)}` }), /longer than 1024 bytes/],
    [() => ({ status: 404, body: VALUE }), /answered 404/],
    [() => ({ status: 500, body: VALUE }), /answered 500/],
    [() => ({ fault: 'reset' }), /file: connection/],
  ];
  for (const [reply, error] of replies) {
    sink.reply = reply;
    const finding = await look();
    assert.equal(finding.file, false);
    assert.match(finding.error ?? '', error);
  }
});

test('redirects stay on the host, are limited to three, and use https', async () => {
  const through = (...hops: string[]) => {
    sink.reply = ({ path }) => {
      const hop = path === PATH ? 0 : Number(path.slice(1));
      const next = hops[hop];
      return next === undefined ? { body: VALUE } : { status: 302, headers: { location: next } };
    };
    return look();
  };
  assert.equal((await through('/1', '/2', '/3')).file, true);
  assert.match((await through('/1', '/2', '/3', '/4')).error ?? '', /redirect: too many/);
  const elsewhere = await through(`https://other.example.com:${sink.port}/9`);
  assert.match(elsewhere.error ?? '', /redirect: to another host/);
  assert.match((await through(`http://${DOMAIN}:${sink.port}/9`)).error ?? '', /redirect|scheme/);
});

test('a private address is never connected to, and an invalid certificate does not verify', async () => {
  const before = sink.requests.length;
  assert.match((await look('private.example.com')).error ?? '', /file: ssrf_guard: private address/);
  dns.a.set('third.example.com', ['127.0.0.1']);
  assert.match((await look('third.example.com')).error ?? '', /file: connect/);
  assert.equal(sink.requests.length, before);
});

test('a silent name server times out after seconds and is reported', async () => {
  dns.fault = 'silent';
  const finding = await look();
  dns.fault = 'none';
  assert.equal(finding.txt, false);
  assert.match(finding.error ?? '', /dns: ETIMEOUT/);
});

test('the record of one of two name servers suffices', async () => {
  const other = await startTestDns();
  const both = createTxtResolver([other.address, dns.address]);
  dns.txt.set('both.example.com', ['there']);
  assert.deepEqual(await both.resolve('both.example.com'), ['there']);
  other.fault = 'servfail';
  assert.deepEqual(await both.resolve('both.example.com'), ['there']);
  assert.deepEqual(await both.resolve('none.example.com'), []);
  both.close();
  await other.close();
});
