import assert from 'node:assert/strict';
import { SocketAddress } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { GuardError } from './errors.ts';
import { checkAddresses, nonPublicReason, parseAllowList, parseTarget } from './ssrf-guard.ts';

const nothing = parseAllowList([]);

/** First and last address of every refused block of IPv4 (RFC 6890 and the IANA registry). */
const V4_BLOCKS: [first: string, last: string][] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
];

const V6_REFUSED_IN_GLOBAL: [first: string, last: string][] = [
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

const v4Number = (ip: string) => ip.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
const v4Text = (n: number) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.');

/** An independent reading of IPv6 text, for comparison. */
function v6Number(ip: string): bigint {
  const [head = '', tail] = ip.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...middle, ...right].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

function v6Text(n: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((n >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  return groups.join(':');
}

describe('addresses', () => {
  for (const [first, last] of V4_BLOCKS) {
    test(`${first} to ${last} is refused, its neighbours by their own rule`, () => {
      const within = v4Text(Math.floor((v4Number(first) + v4Number(last)) / 2));
      for (const ip of [first, within, last]) assert.notEqual(nonPublicReason(ip), null, ip);
      for (const n of [v4Number(first) - 1, v4Number(last) + 1]) {
        if (n < 0 || n > 0xffffffff) continue;
        const neighbour = v4Text(n);
        const listed = V4_BLOCKS.some(([a, b]) => v4Number(a) <= n && n <= v4Number(b));
        assert.equal(nonPublicReason(neighbour) !== null, listed, neighbour);
      }
    });
  }

  test('IPv6 outside of 2000::/3 is refused, whatever it is', () => {
    const refused = [
      ...['::', '::1', '::7f00:1', '::8.8.8.8', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8'],
      ...['64:ff9b::1', '64:ff9b:1::1', '100::1', '100:0:0:1::1', '1fff:ffff::1', '4000::1', '5f00::1'],
      ...['e000::1', 'fc00::1', 'fdff:ffff::1', 'fe80::1', 'febf::1', 'fec0::1', 'ff00::1', 'ff02::1'],
    ];
    for (const ip of refused) assert.notEqual(nonPublicReason(ip), null, ip);
  });

  test('addresses at the edges of 2000::/3 are allowed or rejected correctly', () => {
    for (const [first, last] of V6_REFUSED_IN_GLOBAL) {
      assert.notEqual(nonPublicReason(first), null, first);
      assert.notEqual(nonPublicReason(last), null, last);
    }
    const allowed = ['2000::', '2001:200::', '2001:4860:4860::8888', '2606:4700::1111', '3ffe::1'];
    for (const ip of [...allowed, '2003::1', '2001:db7::', '2001:db9::', '2620:4f:8001::', '3fff:1000::']) {
      assert.equal(nonPublicReason(ip), null, ip);
    }
  });

  test('random IPv4 addresses are judged as plain arithmetic over the table judges them', () => {
    const ranges = V4_BLOCKS.map(([first, last]) => [v4Number(first), v4Number(last)] as const);
    fc.assert(
      fc.property(fc.nat(0xffffffff), (n) => {
        const listed = ranges.some(([a, b]) => a <= n && n <= b);
        assert.equal(nonPublicReason(v4Text(n)) !== null, listed);
      }),
      { numRuns: 5000 },
    );
  });

  test('random IPv6 addresses likewise, near the borders too', () => {
    const edges = [...V6_REFUSED_IN_GLOBAL.flat(), '2000::', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'];
    const nearEdge = fc
      .tuple(fc.constantFrom(...edges), fc.bigInt(-3n, 3n))
      .map(([edge, offset]) => v6Number(edge) + offset);
    const anywhere = fc.bigInt(0n, (1n << 128n) - 1n);
    const global = fc.bigInt(v6Number('2000::'), v6Number('3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'));
    fc.assert(
      fc.property(fc.oneof(nearEdge, anywhere, global), (n) => {
        const outside = n >> 125n !== 1n;
        const listed = V6_REFUSED_IN_GLOBAL.some(([a, b]) => v6Number(a) <= n && n <= v6Number(b));
        assert.equal(nonPublicReason(v6Text(n)) !== null, outside || listed, v6Text(n));
      }),
      { numRuns: 5000 },
    );
  });

  test('text that is no plain address is refused', () => {
    for (const text of [
      '',
      'localhost',
      '0177.0.0.1',
      '127.1',
      '2130706433',
      'fe80::1%eth0',
      '2606:4700::1%0',
    ]) {
      assert.equal(nonPublicReason(text), 'not an address', text);
    }
  });

  test('one address that is not public refuses the whole answer', () => {
    assert.doesNotThrow(() => checkAddresses(['1.1.1.1', '2606:4700::1111'], nothing));
    for (const mixed of [['1.1.1.1', '10.0.0.1'], ['1.1.1.1', '::1'], ['::ffff:1.1.1.1']]) {
      assert.throws(() => checkAddresses(mixed, nothing), GuardError);
    }
  });
});

function reasonOf(url: string, allow = nothing): string | null {
  try {
    parseTarget(url, allow);
    return null;
  } catch (error) {
    if (error instanceof GuardError) return error.reason;
    throw error;
  }
}

describe('URLs', () => {
  test('ordinary ones pass, with host, port and path as they will be sent', () => {
    assert.deepEqual(parseTarget('https://Example.com./hook?a=1#part', nothing), {
      origin: 'https://example.com',
      path: '/hook?a=1',
      name: 'example.com',
      literal: null,
    });
    assert.equal(parseTarget('https://example.com:8443', nothing).origin, 'https://example.com:8443');
    assert.equal(parseTarget('https://xn--bcher-kva.example/', nothing).name, 'xn--bcher-kva.example');
    assert.equal(parseTarget('https://bücher.example/', nothing).name, 'xn--bcher-kva.example');
    assert.equal(parseTarget('https://1.1.1.1/', nothing).literal, '1.1.1.1');
    const six = parseTarget('https://[2606:4700::1111]:444/', nothing);
    assert.equal(six.origin, 'https://[2606:4700::1111]:444');
    assert.equal(six.literal, '2606:4700::1111');
  });

  test('every spelling of a loopback address is refused as one', () => {
    const hosts = [
      ...['127.0.0.1', '127.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001', '0177.0.0.1'],
      ...['127.0.0.1.', '%31%32%37.0.0.1', '１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '[::1]', '[0:0::1]'],
    ];
    for (const host of hosts) assert.equal(reasonOf(`https://${host}/`), 'loopback address', host);
    for (const host of ['[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]', '[::ffff:8.8.8.8]']) {
      assert.equal(reasonOf(`https://${host}/`), 'IPv4-mapped address', host);
    }
    assert.equal(reasonOf('https://[::127.0.0.1]/'), 'IPv4-compatible address');
    assert.equal(reasonOf('https://0/'), 'unspecified address');
    assert.equal(reasonOf('https:127.0.0.1'), 'loopback address');
    assert.equal(reasonOf('https:/127.0.0.1'), 'loopback address');
  });

  test('every range that is not public is refused as a literal', () => {
    const literals = ['10.1.2.3', '172.20.0.1', '192.168.1.1', '169.254.169.254', '100.100.0.1', '224.0.0.1'];
    for (const host of [...literals, '255.255.255.255', '[fd00::1]', '[fe80::1]', '[ff02::1]']) {
      assert.notEqual(reasonOf(`https://${host}/`), null, host);
    }
  });

  test('local names are refused, in any case, with any number of dots, bare and as a suffix', () => {
    const names = [
      ...['localhost', 'LOCALHOST', 'localhost.', 'localhost..', 'localhost%E3%80%82', 'ⓛocalhost'],
      ...[
        'a.localhost',
        'printer.local',
        'foo.local.',
        'db.internal',
        'foo.internal%2e',
        'nas.lan',
        'x.intranet',
      ],
      ...['internal', 'local', 'lan', 'intranet', 'intranet.', 'router', 'foo..internal', '.internal'],
    ];
    for (const name of names) assert.notEqual(reasonOf(`https://${name}/`), null, name);
    assert.equal(reasonOf('https://mylocal/'), 'host name without a dot');
    for (const name of ['internal.example.com', 'notlocal.example', 'a.local.example']) {
      assert.equal(reasonOf(`https://${name}/`), null, name);
    }
  });

  test('userinfo is refused, empty ones too', () => {
    for (const url of [
      'https://user@example.com/',
      'https://user:pass@example.com/',
      'https://@example.com/',
      'https://:@example.com/',
      'https:@example.com',
      'https:///@example.com/',
    ]) {
      assert.equal(reasonOf(url), 'userinfo in the URL', url);
    }
    assert.equal(reasonOf('https://example.com/@user?mail=a@b.c'), null);
  });

  test('what the parser would clean up silently is refused', () => {
    for (const url of [
      ' https://example.com/',
      'https://example.com/ ',
      'https://exam\tple.com/',
      'https://exam\nple.com/',
      '\0https://example.com/',
      'https:\\\\127.0.0.1\\x',
      'https://example.com\\@127.0.0.1/',
      'https://example.com/\u007f',
      'https://example.com/\u00a0',
    ]) {
      assert.equal(reasonOf(url), 'space, control character or backslash in the URL', JSON.stringify(url));
    }
  });

  test('other schemes, ports, malformed hosts and lengths', () => {
    for (const url of [
      'http://example.com/',
      'ftp://example.com/',
      'javascript:alert(1)',
      'file:///etc/passwd',
    ]) {
      assert.equal(reasonOf(url), 'scheme is not https', url);
    }
    for (const url of ['', 'example.com', 'https://', 'https://[fe80::1%25eth0]/', 'https://256.1.1.1/']) {
      assert.equal(reasonOf(url), 'malformed URL', url);
    }
    assert.equal(reasonOf('https://example.com:0/'), 'port 0');
    assert.equal(reasonOf('https://example.com:65536/'), 'malformed URL');
    assert.equal(reasonOf(`https://${'a'.repeat(64)}.example/`), 'host name too long');
    assert.equal(reasonOf('https://a..example/'), 'empty label in the host name');
    const url = (length: number) => `https://example.com/${'a'.repeat(length - 20)}`;
    assert.equal(reasonOf(url(2048)), null);
    assert.equal(reasonOf(url(2049)), 'URL longer than 2048 characters');
    // 700 characters that become 2,100 when they are percent-encoded.
    assert.equal(reasonOf(`https://example.com/${'é'.repeat(700)}`), 'URL longer than 2048 characters');
  });

  test('whatever passes has a public literal or a name that is not local', () => {
    const host = fc.oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6().map((ip) => `[${ip}]`),
      fc.domain(),
    );
    fc.assert(
      fc.property(host, fc.webPath(), (name, path) => {
        const url = `https://${name}${path}`;
        if (reasonOf(url) !== null) return;
        const target = parseTarget(url, nothing);
        assert.ok(new URL(url).hostname.includes(target.name));
        if (target.literal !== null) assert.equal(nonPublicReason(target.literal), null);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the allow-list', () => {
  test('a CIDR lets its addresses through, of its own family only', () => {
    const allow = parseAllowList(['127.0.0.0/8', '::1/128', '10.1.2.3']);
    for (const ip of ['127.0.0.1', '127.9.9.9', '::1', '10.1.2.3']) {
      assert.doesNotThrow(() => checkAddresses([ip], allow), ip);
    }
    for (const ip of ['10.1.2.4', '::2', '::ffff:127.0.0.1', '192.168.0.1']) {
      assert.throws(() => checkAddresses([ip], allow), GuardError, ip);
    }
    assert.equal(reasonOf('https://127.0.0.1:8443/', allow), null);
    assert.equal(reasonOf('https://[::1]/', allow), null);
    assert.equal(reasonOf('http://127.0.0.1/', allow), 'scheme is not https');
  });

  test('a CIDR that holds 127.0.0.1 implies localhost; names are exempt by their whole name', () => {
    assert.equal(reasonOf('https://localhost/', parseAllowList(['127.0.0.1/32'])), null);
    assert.notEqual(reasonOf('https://localhost/', parseAllowList(['10.0.0.0/8'])), null);
    const allow = parseAllowList(['Receiver', 'hooks.internal']);
    assert.equal(reasonOf('https://receiver:4433/', allow), null);
    assert.equal(reasonOf('https://hooks.internal./', allow), null);
    for (const name of ['localhost', 'other.internal', 'sub.hooks.internal', 'receiver2']) {
      assert.notEqual(reasonOf(`https://${name}/`, allow), null, name);
    }
  });

  test('an entry that is neither is refused at start', () => {
    for (const entry of ['10.0.0.0/33', '10.0.0/8', 'a b', '::/129', '10.0.0.0/']) {
      assert.throws(() => parseAllowList([entry]), new RegExp(entry.replaceAll('/', '\\/')), entry);
    }
  });
});

test('the reference reading of IPv6 agrees with the system', () => {
  for (const ip of ['::1', '2001:db8::1', 'fe80::', '1:2:3:4:5:6:7:8']) {
    const spelled = new SocketAddress({ address: v6Text(v6Number(ip)), family: 'ipv6' }).address;
    assert.equal(v6Number(spelled), v6Number(ip));
  }
});
