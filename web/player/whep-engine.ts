import type { Engine, EngineEvent, EngineFacts } from './playback.ts';
import { watchProgress } from './progress.ts';

/** As long as the first picture may take; the next keyframe of an encoder is mostly nearer. */
const FIRST_MS = 12_000;
const SDP = { 'Content-Type': 'application/sdp' };

const FACTS: EngineFacts = {
  protocol: 'WebRTC',
  ...{
    liveSec: null,
    delaySec: null,
    frameRate: null,
    bitrate: null,
    bandwidth: null,
    codecs: 'H.264, Opus',
  },
};

function isOver(connection: RTCPeerConnection): boolean {
  return (
    ['failed', 'closed', 'disconnected'].includes(connection.connectionState) ||
    connection.getReceivers().some(({ transport }) => transport?.state === 'closed')
  );
}

/**
 * Plays a broadcast by WebRTC (draft-ietf-wish-whep), some tenths of a second behind. Its end, whatever it is, is `gone`.
 *
 * @throws {Error} when the server does not show it so.
 */
export async function attachWhep(
  video: HTMLVideoElement,
  url: string,
  report: (event: EngineEvent) => void,
): Promise<Engine> {
  const connection = new RTCPeerConnection();
  const stream = new MediaStream();
  connection.addEventListener('track', ({ track }) => stream.addTrack(track));
  let session: URL | null = null;
  const end = () => {
    connection.close();
    removeEventListener('pagehide', end);
    if (session !== null) void fetch(session, { method: 'DELETE', keepalive: true }).catch(() => {});
    session = null;
    if (video.srcObject === stream) video.srcObject = null;
  };
  addEventListener('pagehide', end);
  try {
    for (const kind of ['video', 'audio']) connection.addTransceiver(kind, { direction: 'recvonly' });
    await connection.setLocalDescription();
    const answer = await fetch(url, {
      ...{ method: 'POST', headers: SDP, body: connection.localDescription?.sdp ?? '' },
    });
    if (answer.status !== 201) throw new Error(`not shown by WebRTC: ${answer.status}`);
    session = new URL(answer.headers.get('Location') ?? '', answer.url);
    await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
  } catch (error) {
    end();
    throw error;
  }
  const late = setTimeout(() => report('gone'), FIRST_MS);
  const unwatch = watchProgress(video, (event) => {
    clearTimeout(late);
    report(event);
  });
  const look = () => {
    if (isOver(connection)) report('gone');
  };
  connection.addEventListener('connectionstatechange', look);
  // The server's end is told here at once, and there some seconds later.
  for (const { transport } of connection.getReceivers()) transport?.addEventListener('statechange', look);
  video.srcObject = stream;
  return {
    opaque: false,
    facts: () => FACTS,
    destroy: () => {
      clearTimeout(late);
      unwatch();
      end();
    },
  };
}
