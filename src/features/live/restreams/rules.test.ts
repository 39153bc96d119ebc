import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppError } from '../../../kernel/errors.ts';
import { desiredRunState, lastFour, parseTarget, restreamStatus, type Source } from './rules.ts';

const target = (
  state: 'IDLE' | 'CONNECTING' | 'BROADCASTING' | 'ERRORED',
  severity: 'NORMAL' | 'FATAL' | null = null,
) => ({
  enabled: true,
  state,
  error_severity: severity,
});
const running = { enabled: true, manual_override: 'AUTO', is_running: true } as const;

test('the status of a restream follows from its targets', () => {
  const on = target('BROADCASTING');
  const fatal = target('ERRORED', 'FATAL');
  const off = { ...target('IDLE'), enabled: false };
  assert.equal(restreamStatus({ ...running, is_running: false }, [on]), 'IDLE');
  assert.equal(restreamStatus({ ...running, is_running: false, manual_override: 'STOPPED' }, []), 'STOPPED');
  assert.equal(restreamStatus({ ...running, is_running: false, enabled: false }, []), 'STOPPED');
  assert.equal(restreamStatus(running, []), 'STARTING');
  assert.equal(restreamStatus(running, [target('CONNECTING'), fatal]), 'STARTING');
  assert.equal(restreamStatus(running, [on, off]), 'ACTIVE');
  assert.equal(restreamStatus(running, [on, fatal]), 'DEGRADED');
  assert.equal(restreamStatus(running, [on, target('ERRORED', 'NORMAL')]), 'DEGRADED');
  assert.equal(restreamStatus(running, [fatal, fatal, off]), 'FAILED');
});

const idle: Source = { isLive: false, hasSignal: false, isAllowed: true };
const preview: Source = { ...idle, hasSignal: true };
const live: Source = { ...preview, isLive: true };
const settled = (
  startMode: 'WITH_BROADCAST' | 'WITH_SIGNAL' | 'MANUAL',
  manualOverride: 'AUTO' | 'STARTED' | 'STOPPED',
  source: Source,
) => {
  const { manualOverride: next, isRunning } = desiredRunState(
    { enabled: true, startMode, manualOverride },
    source,
  );
  return `${next} ${isRunning}`;
};

test('a restream follows its stream according to its start mode', () => {
  assert.equal(settled('WITH_BROADCAST', 'AUTO', preview), 'AUTO false');
  assert.equal(settled('WITH_BROADCAST', 'AUTO', live), 'AUTO true');
  assert.equal(settled('WITH_BROADCAST', 'AUTO', { ...live, hasSignal: false }), 'AUTO true');
  assert.equal(settled('WITH_SIGNAL', 'AUTO', idle), 'AUTO false');
  assert.equal(settled('WITH_SIGNAL', 'AUTO', preview), 'AUTO true');
  assert.equal(settled('MANUAL', 'AUTO', live), 'AUTO false');
});

test('start runs a restream early, and stop holds it until the next time', () => {
  assert.equal(settled('WITH_BROADCAST', 'STARTED', preview), 'STARTED true');
  assert.equal(settled('WITH_BROADCAST', 'STARTED', live), 'AUTO true');
  assert.equal(settled('WITH_BROADCAST', 'STOPPED', live), 'STOPPED false');
  assert.equal(settled('WITH_BROADCAST', 'STOPPED', preview), 'AUTO false');
  assert.equal(settled('MANUAL', 'STARTED', idle), 'STARTED true');
  assert.equal(settled('MANUAL', 'STOPPED', live), 'STOPPED false');
});

test('neither a disabled restream nor a suspended account sends', () => {
  const off = desiredRunState({ enabled: false, startMode: 'WITH_SIGNAL', manualOverride: 'STARTED' }, idle);
  assert.equal(off.isRunning, false);
  assert.equal(settled('MANUAL', 'STARTED', { ...live, isAllowed: false }), 'STARTED false');
});

const refused = (field: string) => (error: AppError) => error.code === 'BAD_REQUEST' && error.field === field;
const key = 'abcdefgh';

test('URLs of every kind are parsed', () => {
  const read = (url: string, streamKey: string | undefined = key) =>
    parseTarget({ platform: 'CUSTOM', url, streamKey }).address;
  const { guarded: _, query: __, ...plain } = read('RTMP://Live.Example.com/app/');
  assert.deepEqual(plain, { scheme: 'rtmp', host: 'live.example.com', port: 1935, app: 'app' });
  assert.equal(read('rtmps://live.example.com/app/inner?a=b').app, 'app/inner?a=b');
  assert.equal(read('rtmps://live.example.com/app').port, 443);
  assert.equal(read('rtmp://[2001:db8::1]:1936/app').host, '[2001:db8::1]');
  assert.equal(read('srt://live.example.com:9000?latency=500&mode=caller', undefined).port, 9000);
});

for (const [url, field] of [
  ['', 'url'],
  ['http://live.example.com/app', 'url'],
  ['rtmpt://live.example.com/app', 'url'],
  ['rtmp:live.example.com/app', 'url'],
  ['rtmp:///app', 'url'],
  ['rtmp://user:pass@live.example.com/app', 'url'],
  ['rtmp://live.example.com', 'url'],
  ['rtmp://live.example.com/', 'url'],
  ['rtmp://live.example.com:0/app', 'url'],
  ['rtmp://live.example.com:70000/app', 'url'],
  ['rtmp://live.example.com/app#x', 'url'],
  ['rtmp://live.example.com/a pp', 'url'],
  ['rtmp://live.example.com\\@10.0.0.1/app', 'url'],
  [`rtmp://live.example.com/${'a'.repeat(2048)}`, 'url'],
  ['srt://live.example.com', 'url'],
  ['srt://live.example.com:9000/path', 'url'],
  ['srt://live.example.com:9000?streamid=secret', 'url'],
  ['srt://live.example.com:9000?passphrase=secret', 'url'],
  ['srt://live.example.com:9000?pbkeylen=8', 'url'],
  ['srt://live.example.com:9000?mode=listener', 'url'],
  ['srt://live.example.com:9000?latency=never', 'url'],
] as const) {
  test(`rejects ${url.slice(0, 60)}`, () => {
    assert.throws(() => parseTarget({ platform: 'CUSTOM', url, streamKey: key }), refused(field));
  });
}

test('a platform accepts its own servers and its key format only', () => {
  const youtube = (streamKey: string, url?: string) => parseTarget({ platform: 'YOUTUBE', url, streamKey });
  assert.equal(youtube('abcd-efgh-ijkl-mnop-qrst').url, 'rtmps://a.rtmps.youtube.com/live2');
  assert.equal(youtube('abcd-efgh-ijkl-mnop', 'rtmp://b.rtmp.youtube.com/live2').address.port, 1935);
  assert.throws(() => youtube('abcd'), refused('streamKey'));
  assert.throws(
    () => youtube('abcd-efgh-ijkl-mnop', 'rtmp://youtube.com.evil.example/live2'),
    refused('url'),
  );
  assert.throws(() => youtube('abcd-efgh-ijkl-mnop', 'rtmp://notyoutube.com/live2'), refused('url'));
  const good = [
    ['TWITCH', 'live_123456789_abcDEF123'],
    ['TWITCH', 'live_123456789_abcDEF123?bandwidthtest=true'],
    ['FACEBOOK', 'FB-1234567890123456-0-AbCdEfGhIjKl'],
    ['KICK', 'sk_us-west-2_abcdefghijkl_abcdefghijklmnop'],
    ['X', 'abcdefghijklm'],
  ] as const;
  for (const [platform, streamKey] of good) parseTarget({ platform, url: undefined, streamKey });
  for (const platform of ['TWITCH', 'FACEBOOK', 'KICK', 'X'] as const) {
    assert.throws(() => parseTarget({ platform, url: undefined, streamKey: 'a b' }), refused('streamKey'));
  }
  assert.throws(() => parseTarget({ platform: 'CUSTOM', url: undefined, streamKey: key }), refused('url'));
  assert.throws(
    () => parseTarget({ platform: 'CUSTOM', url: 'rtmp://a.example.com/b', streamKey: undefined }),
    refused('streamKey'),
  );
});

test('a short key shows no characters', () => {
  assert.equal(lastFour('0123456789ab'), '89ab');
  assert.equal(lastFour('0123456789a'), null);
  assert.equal(lastFour(null), null);
});
