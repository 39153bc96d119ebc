import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../harness/wait-for.ts';
import { createRoom, joinRoom, type RoomClient } from './client.ts';
import { NO_JANUS } from './janus.ts';
import { type JanusApp, startJanusApp } from './janus-app.ts';

const HEAD = [
  ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=setup:actpass', 'a=ice-ufrag:abcd'],
  ...['a=ice-pwd:0123456789abcdef01234567', `a=fingerprint:sha-256 ${Array(32).fill('AB').join(':')}`],
];
const CODEC = { audio: '111 opus/48000/2', video: '96 VP8/90000' };

interface Section {
  kind?: 'audio' | 'video';
  mid?: string;
  port?: number;
}

/** Returns a section of an offer, with lines for its direction. */
function section(lines: readonly string[], { kind = 'audio', mid = '0', port = 9 }: Section = {}): string[] {
  const [type] = CODEC[kind].split(' ');
  const media = [`m=${kind} ${port} UDP/TLS/RTP/SAVPF ${type}`, 'c=IN IP4 0.0.0.0'];
  return [...media, `a=mid:${mid}`, 'a=rtcp-mux', `a=rtpmap:${CODEC[kind]}`, ...lines];
}

const offer = (...sections: string[][]) => [...HEAD, ...sections.flat(), ''].join('\r\n');
const idle = (count: number) =>
  Array.from({ length: count }, (_, index) => section(['a=inactive'], { mid: String(index) }));

describe('offers for Janus', { skip: NO_JANUS }, () => {
  let janus: JanusApp;
  let key: string;
  let roomId: string;
  before(async () => {
    janus = await startJanusApp(22_000);
    ({ key } = await janus.app.createKey());
    roomId = await createRoom(janus.app, key);
  });
  after(() => janus.close());

  /** Sends an offer through the gateway. @returns the answer of the media server, or the error code. */
  async function publish(client: RoomClient, sdp: string, sources: object): Promise<string> {
    const from = client.messages.length;
    client.send({ type: 'signal', data: { op: 'publish', sdp, sources } });
    return waitFor(
      () => {
        for (const { type, code, data } of client.messages.slice(from)) {
          if (type === 'error') return String(code);
          if (type === 'signal' && Object(data).op === 'answer') return String(Object(data).sdp);
        }
        return null;
      },
      { message: () => `an answer to ${JSON.stringify(sdp)}` },
    );
  }
  const enter = (identity: string, role: string) => joinRoom(janus.app, key, roomId, { identity, role });

  test('a viewer publishes by no way of writing an offer', async () => {
    const viewer = await enter('viewer', 'VIEWER');
    const video = { kind: 'video' } as const;
    const attacks: [string, string][] = [
      ['audio', offer(section(['a=sendonly']))],
      ['video', offer(section(['a=sendrecv'], video))],
      ['without a direction', offer(section([]))],
      ['two directions', offer(section(['a=recvonly', 'a=sendrecv']))],
      ['another case', offer(section(['a=recvonly', 'a=SENDRECV']))],
      ['U+2028', offer(section(['a=x:\u2028a=recvonly', 'a=sendonly']))],
      ['U+2029 in video', offer(section(['a=x:\u2029a=inactive\u2029', 'a=sendonly'], video))],
      ['a section in U+2028', offer(section(['a=sendonly', 'a=x:\u2028m=audio 0 X 1']))],
      ['CR within a line', offer(section(['a=sendonly', 'a=x:\ra=recvonly\rx']))],
      ['port 0', offer(section(['a=sendonly'], { port: 0 }))],
      ['port 0 of a bundle', offer(section(['a=sendonly', 'a=bundle-only'], { port: 0 }))],
      ['LF alone', offer(section(['a=recvonly', 'a=sendonly'])).replaceAll('\r\n', '\n')],
    ];
    for (const [name, sdp] of attacks) {
      const answer = await publish(viewer, sdp, { 0: name.includes('video') ? 'CAMERA' : 'MICROPHONE' });
      // Either rejected, or answered without receiving anything.
      assert.ok(answer === 'BAD_SIGNAL' || !/^a=recvonly\r?$/m.test(answer), `${name}: ${answer}`);
    }
    await viewer.close();
  });

  test('ambiguous or excessive offers are rejected, and the next offer is answered', async () => {
    const host = await enter('host', 'HOST');
    const twins = offer(
      section(['a=sendonly'], { mid: 'a' }),
      section(['a=sendonly'], { kind: 'video', mid: 'A' }),
    );
    const refused: [string, string, object][] = [
      ['CR alone', offer(section(['a=sendonly'])).replaceAll('\r\n', '\r'), { 0: 'MICROPHONE' }],
      ['13 sections', offer(...idle(13)), {}],
      [
        'a mid twice',
        offer(section(['a=sendonly']), section(['a=sendonly'], { kind: 'video' })),
        { 0: 'SCREEN' },
      ],
      ['a mid twice but for its case', twins, { a: 'MICROPHONE', A: 'CAMERA' }],
      [
        'no mid',
        offer(section(['a=sendonly']).filter((line) => !line.startsWith('a=mid'))),
        { '': 'MICROPHONE' },
      ],
      [
        'a data channel',
        offer(['m=application 9 UDP/DTLS/SCTP webrtc-datachannel', 'a=mid:0']),
        { 0: 'CAMERA' },
      ],
      ['no codec of rooms', offer(section(['a=sendonly'])).replace('opus', 'PCMU'), { 0: 'MICROPHONE' }],
      ['2001 lines', `${offer(section(['a=sendonly']))}${'a=x\r\n'.repeat(2000)}`, { 0: 'MICROPHONE' }],
      ['140 kB', `${offer(section(['a=sendonly']))}a=x:${'x'.repeat(140_000)}\r\n`, { 0: 'MICROPHONE' }],
    ];
    for (const [name, sdp, sources] of refused)
      assert.equal(await publish(host, sdp, sources), 'BAD_SIGNAL', name);
    const sdp = offer(section(['a=sendonly']), ...idle(12).slice(1));
    const answer = await publish(host, sdp, { 0: 'MICROPHONE' });
    assert.match(answer, /^m=audio [1-9].*\r\n(?:(?!m=).*\r\n)*a=recvonly\r\n/m);
    await host.close();
  });

  test('an offer keeps the sections of the previous one', async () => {
    const host = await enter('host', 'HOST');
    const [audio, video] = [section(['a=sendonly']), section(['a=sendonly'], { kind: 'video', mid: '1' })];
    const sources = { 0: 'MICROPHONE', 1: 'CAMERA' };
    assert.match(await publish(host, offer(audio, video), sources), /^m=video/m);
    const renamed = offer(
      section(['a=sendonly'], { mid: '1' }),
      section(['a=sendonly'], { kind: 'video', mid: '0' }),
    );
    for (const sdp of [offer(audio), offer(video, audio), renamed, offer()])
      assert.equal(await publish(host, sdp, { ...sources, 1: 'SCREEN' }), 'BAD_SIGNAL', sdp);
    const more = offer(audio, section(['a=inactive'], { kind: 'video', mid: '1' }), ...idle(3).slice(2));
    assert.match(await publish(host, more, sources), /^m=video/m);
    await host.close();
  });
});
