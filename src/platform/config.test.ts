import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import { ConfigError, inheritedSockets, KEYS, loadConfig } from './config.ts';

describe('the configuration', () => {
  test('has a default for everything, and is frozen', () => {
    const config = loadConfig({});
    assert.equal(config.PORT, 8080);
    assert.equal(config.HOST, '127.0.0.1');
    assert.equal(config.PUBLIC_URL, 'http://localhost:8080');
    assert.equal(config.DATA_DIR, resolve('./data'));
    assert.deepEqual(config.ROLES, ['api', 'worker', 'media']);
    assert.equal(config.RTMP_URL, 'rtmp://localhost:1935/live');
    assert.equal(config.LIVEMODE, false);
    assert.equal(config.TRUST_PROXY, false);
    assert.deepEqual(config.WEBHOOK_RETRY_SECONDS, [60, 300, 1800, 7200, 21_600, 43_200]);
    assert.deepEqual(config.WEBHOOK_ALLOW_PRIVATE, []);
    assert.equal(config.WEBHOOK_TIMEOUT_MS, 10_000);
    assert.equal(config.DATABASE_URL, undefined);
    assert.throws(() => Object.assign(config, { PORT: 1 }), TypeError);
  });

  test('registration is open by default only when PUBLIC_URL is on this machine', () => {
    const modes = {
      'http://localhost:8080': 'open',
      'http://127.0.0.1': 'open',
      'http://[::1]:8080': 'open',
      'https://live.example.com': 'invite',
      'http://localhost.example.com': 'invite',
      'http://192.168.0.10': 'invite',
    };
    for (const [url, mode] of Object.entries(modes)) {
      assert.equal(loadConfig({ PUBLIC_URL: url }).REGISTRATION, mode, url);
      assert.equal(loadConfig({ PUBLIC_URL: url, REGISTRATION: 'closed' }).REGISTRATION, 'closed');
    }
    assert.equal(loadConfig({}).DEFAULT_PLAN, 'FREE');
  });

  test('process counts are a number or `auto`, and 1 by default', () => {
    const counts = (value: string) => {
      const config = loadConfig({ API_PROCESSES: value, WORKER_PROCESSES: value, MEDIA_PROCESSES: value });
      return [config.API_PROCESSES, config.WORKER_PROCESSES, config.MEDIA_PROCESSES];
    };
    assert.deepEqual(counts(''), [1, 1, 1]);
    assert.deepEqual(counts('3'), [3, 3, 3]);
    const share = (coresEach: number, max: number) =>
      Math.max(1, Math.min(max, Math.floor(availableParallelism() / coresEach)));
    assert.deepEqual(counts('auto'), [share(2, 16), 1, share(4, 8)]);
    for (const value of ['0', '65', '-1', '2.5', 'two']) {
      assert.throws(() => counts(value), /API_PROCESSES must be auto, or a whole number from 1 to 64/);
    }
  });

  test('sockets of systemd are taken by name, and a single one is that of the API', () => {
    const sockets = (names: string | undefined, count = 1, pid = 7) =>
      Object.fromEntries(
        inheritedSockets({ LISTEN_FDS: String(count), LISTEN_PID: '7', LISTEN_FDNAMES: names }, pid),
      );
    assert.deepEqual(sockets(undefined), { api: 3 });
    assert.deepEqual(sockets('marquee.socket'), { api: 3 });
    assert.deepEqual(sockets('rtmp'), { rtmp: 3 });
    assert.deepEqual(sockets('metrics:api', 2), { metrics: 3, api: 4 });
    assert.deepEqual(sockets('api', 1, 8), {}, 'those of another process');
    assert.deepEqual(Object.fromEntries(inheritedSockets({}, 7)), {});
    for (const names of ['api:other', 'api:api']) {
      assert.throws(() => sockets(names, 2), /LISTEN_FDNAMES has "(other|api)"/);
    }
  });

  test('an empty variable is an absent one', () => {
    const empty = Object.fromEntries(Object.keys(KEYS).map((name) => [name, '']));
    assert.deepEqual(loadConfig(empty), loadConfig({}));
  });

  test('derived URLs follow the settings they are derived from', () => {
    assert.equal(loadConfig({ PORT: '9000' }).PUBLIC_URL, 'http://localhost:9000');
    const config = loadConfig({ PUBLIC_URL: 'https://live.example.com/', RTMP_PORT: '2935' });
    assert.equal(config.PUBLIC_URL, 'https://live.example.com');
    assert.equal(config.RTMP_URL, 'rtmp://live.example.com:2935/live');
    assert.equal(loadConfig({ RTMP_URL: 'rtmps://in.example.com/x' }).RTMP_URL, 'rtmps://in.example.com/x');
  });

  test('the number of media processes is a number or derived from the CPU cores', () => {
    assert.equal(loadConfig({}).MEDIA_PROCESSES, 1);
    assert.equal(loadConfig({ MEDIA_PROCESSES: '3' }).MEDIA_PROCESSES, 3);
    const { MEDIA_PROCESSES: derived } = loadConfig({ MEDIA_PROCESSES: 'auto' });
    assert.ok(derived >= 1 && derived <= 8, `${derived}`);
    for (const MEDIA_PROCESSES of ['0', 'all', '1.5', '65'])
      assert.throws(() => loadConfig({ MEDIA_PROCESSES }), /MEDIA_PROCESSES/);
  });

  test('RTMPS needs both files, and has an address where it is', () => {
    assert.equal(loadConfig({}).RTMPS_URL, undefined);
    const files = { TLS_CERT_FILE: '/a.pem', TLS_KEY_FILE: '/b.pem' };
    assert.equal(loadConfig(files).RTMPS_URL, 'rtmps://localhost:1936/live');
    assert.equal(
      loadConfig({ RTMPS_URL: 'rtmps://in.example.com/live' }).RTMPS_URL,
      'rtmps://in.example.com/live',
    );
    assert.throws(() => loadConfig({ TLS_KEY_FILE: '/b.pem' }), /^Error: TLS_CERT_FILE/);
    assert.throws(() => loadConfig({ TLS_CERT_FILE: '/a.pem' }), /^Error: TLS_KEY_FILE/);
  });

  test('the drain lasts longer than its delay', () => {
    const { DRAIN_DELAY, DRAIN_TIMEOUT } = loadConfig({});
    assert.deepEqual([DRAIN_DELAY, DRAIN_TIMEOUT], [0, 25]);
    assert.throws(
      () => loadConfig({ DRAIN_DELAY: '25' }),
      /^Error: DRAIN_DELAY must be less than DRAIN_TIMEOUT/,
    );
  });

  test('the secret key comes from one place', () => {
    assert.equal(loadConfig({ SECRET_KEY_FILE: '/etc/key' }).SECRET_KEY_FILE, '/etc/key');
    assert.equal(loadConfig({}).SECRET_KEY_FILE, undefined);
    const both = { SECRET_KEY: 'ab'.repeat(32), SECRET_KEY_FILE: '/etc/key' };
    assert.throws(() => loadConfig(both), /^Error: SECRET_KEY_FILE/);
  });

  test('the three variables of LiveKit go together, and fit the address of the platform', () => {
    const all = {
      LIVEKIT_URL: 'wss://lk.example.com/',
      LIVEKIT_API_KEY: 'key',
      LIVEKIT_API_SECRET: 'hunter2',
    };
    assert.equal(loadConfig({ ...all, PUBLIC_URL: 'https://a.example' }).LIVEKIT_URL, 'wss://lk.example.com');
    for (const name of Object.keys(all))
      assert.throws(
        () => loadConfig({ ...all, [name]: '' }),
        /^Error: LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET must all be set(?!.*hunter2)/,
      );
    assert.throws(() => loadConfig({ ROOMS_ENGINE: 'livekit' }), /^Error: LIVEKIT_URL is required/);
    const mixed = { ...all, LIVEKIT_URL: 'ws://lk.example.com', PUBLIC_URL: 'https://a.example' };
    assert.throws(() => loadConfig(mixed), /^Error: LIVEKIT_URL must start with wss/);
  });

  test('an unreachable address is not announced to other nodes', () => {
    assert.equal(loadConfig({}).MEDIA_HOST, '127.0.0.1');
    for (const MEDIA_HOST of ['0.0.0.0', '::'])
      assert.throws(() => loadConfig({ MEDIA_HOST }), /^Error: MEDIA_URL is required/);
    const config = loadConfig({ MEDIA_HOST: '0.0.0.0', MEDIA_URL: 'https://in.example.com/' });
    assert.equal(config.MEDIA_URL, 'https://in.example.com');
  });

  const good: [name: keyof typeof KEYS, text: string, value: unknown][] = [
    ['PORT', '0', 0],
    ['ROLES', 'worker, api', ['worker', 'api']],
    ['LIVEMODE', 'TRUE', true],
    ['LIVEMODE', 'off', false],
    ['TRUST_PROXY', 'true', 1],
    ['TRUST_PROXY', '2', 2],
    ['TRUST_PROXY', '10.0.0.0/8,::1', ['10.0.0.0/8', '::1']],
    ['WEBHOOK_ALLOW_PRIVATE', ' 127.0.0.1/32 , localhost,', ['127.0.0.1/32', 'localhost']],
    ['WEBHOOK_RETRY_SECONDS', '0.2, 1', [0.2, 1]],
    ['SIGNAL_GRACE_MS', '0', 0],
    ['DISK_RESERVE', '2GB', { bytes: 2 ** 31 }],
    ['DISK_RESERVE', '1.5 mb', { bytes: 1.5 * 2 ** 20 }],
    ['DISK_RESERVE', '1000000', { bytes: 1_000_000 }],
    ['DISK_RESERVE', '5%', { percent: 5 }],
    [
      'FETCH_ALLOW_PRIVATE',
      '10.0.0.0/8,fd00::/8,::1,hooks.example.com',
      ['10.0.0.0/8', 'fd00::/8', '::1', 'hooks.example.com'],
    ],
    [
      'DNS_SERVERS',
      '127.0.0.1:5353, [::1]:53, ::1, 9.9.9.9',
      ['127.0.0.1:5353', '[::1]:53', '::1', '9.9.9.9'],
    ],
    ['DATABASE_URL', 'postgresql://u:p@db/x', 'postgresql://u:p@db/x'],
    ['DATABASE_URL', 'postgres://u:p,w@a:1,b:2,c/x?y=z,', 'postgres://u:p,w@a:1,b:2,c/x?y=z,'],
  ];
  for (const [name, text, value] of good) {
    test(`${name}=${text}`, () => assert.deepEqual(loadConfig({ [name]: text })[name], value));
  }

  const bad: [name: keyof typeof KEYS, text: string][] = [
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['PORT', 'http'],
    ['PUBLIC_URL', 'live.example.com'],
    ['PUBLIC_URL', 'ftp://live.example.com'],
    ['DATABASE_URL', 'mysql://db'],
    ['DATABASE_URL', 'mysql://a,b/db'],
    ['ROLES', 'api,web'],
    ['LOG_LEVEL', 'loud'],
    ['LIVEMODE', 'maybe'],
    ['TRUST_PROXY', 'proxy.example.com'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['SECRET_KEY', 'abc'],
    ['SECRET_KEY', 'g'.repeat(64)],
    ['BOOTSTRAP_API_KEY', 'pk_short'],
    ['BOOTSTRAP_EMAIL', 'owner'],
    ['BOOTSTRAP_PASSWORD', 'short'],
    ['WEBHOOK_ALLOW_PRIVATE', '10.0.0.0/33'],
    ['WEBHOOK_ALLOW_PRIVATE', 'localhost,http://a.example'],
    ['FETCH_ALLOW_PRIVATE', 'everything'],
    ['FETCH_ALLOW_PRIVATE', '10.0.0'],
    ['PLATFORM_HOSTS', 'cdn'],
    ['DNS_SERVERS', 'dns.example.com'],
    ['DNS_SERVERS', '127.0.0.1:99999'],
    ['BOOTSTRAP_API_KEY', `pk_${'A'.repeat(40)}`],
    ['WEBHOOK_RETRY_SECONDS', '60,-1'],
    ['WEBHOOK_RETRY_SECONDS', 'soon'],
    ['DATABASE_POOL', '1'],
    ['LIVE_MAX_RUNGS', '6'],
    ['VIDEO_ENCODER', 'cuda'],
    ['VIDEO_ENCODER_SESSIONS', '0'],
    ['VAAPI_DEVICE', '/dev/sda'],
    ['VAAPI_DEVICE', '/dev/dri/renderD128 -i /etc/passwd'],
    ['REGISTRATION', 'everybody'],
    ['DEFAULT_PLAN', 'free'],
    ['TERMS_URL', 'javascript:alert(1)'],
    ['ROOMS_ENGINE', 'zoom'],
    ['ROOMS_UDP_PORTS', '20000'],
    ['ROOMS_UDP_PORTS', '20199-20000'],
    ['ROOMS_UDP_PORTS', '80-200'],
    ['ROOMS_UDP_PORTS', '65000-65600'],
    ['ROOMS_PUBLIC_IP', 'room.example.com'],
    ['LIVEKIT_URL', 'https://lk.example.com'],
    ['LIVEKIT_URL', 'wss://lk.example.com/room'],
    ['LIVEKIT_URL', 'wss://user:word@lk.example.com'],
    ['TURN_URLS', 'turn.example.com'],
    ['TURN_URLS', 'turn:a?transport=carrier'],
  ];
  for (const [name, text] of bad) {
    test(`${name}=${text.slice(0, 20)} stops the start with one line that names it`, () => {
      assert.throws(
        () => loadConfig({ [name]: text }),
        (error) => {
          assert.ok(error instanceof ConfigError);
          assert.match(error.message, new RegExp(`^${name} must .+$`));
          return true;
        },
      );
    });
  }

  test('a refusal never repeats a secret', () => {
    for (const name of ['SECRET_KEY', 'BOOTSTRAP_API_KEY', 'DATABASE_URL']) {
      assert.throws(
        () => loadConfig({ [name]: 'hunter2' }),
        (error) => error instanceof ConfigError && !error.message.includes('hunter2'),
      );
    }
  });

  test('every key has a description that is a sentence', () => {
    for (const [name, { description }] of Object.entries(KEYS))
      assert.match(description, /^[A-Z`].*[.)]$/s, name);
  });
});
