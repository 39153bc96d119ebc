import type { Engine, EngineEvent, EngineState } from './playback.ts';
import { watchProgress } from './progress.ts';

/** Maximum wait for the first frame; the next keyframe of most encoders comes sooner. */
const FIRST_MS = 12_000;
const SDP = { 'Content-Type': 'application/sdp' };

const FACTS: EngineState = {
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

/** The server does not show it so. */
export class WhepRejectedError extends Error {
  /** Whether a retry may succeed: the engine is unavailable or full. */
  readonly mayPass: boolean;

  constructor(status: number) {
    super(`WebRTC playback failed: ${status}`);
    this.mayPass = status === 404 || status === 429 || status >= 500;
  }
}

/** A viewer's connection, before it is shown. */
export interface WhepConnection {
  peer: RTCPeerConnection;
  stream: MediaStream;
  /** Closes the connection and notifies the server. Idempotent. */
  end(): void;
}

function isOver(connection: RTCPeerConnection): boolean {
  return (
    ['failed', 'closed', 'disconnected'].includes(connection.connectionState) ||
    connection.getReceivers().some(({ transport }) => transport?.state === 'closed')
  );
}

/** Connects to a broadcast by WebRTC (draft-ietf-wish-whep). */
export async function connectWhep(url: string): Promise<WhepConnection> {
  const peer = new RTCPeerConnection();
  const stream = new MediaStream();
  peer.addEventListener('track', ({ track }) => stream.addTrack(track));
  let session: URL | null = null;
  const end = () => {
    peer.close();
    removeEventListener('pagehide', end);
    if (session !== null) void fetch(session, { method: 'DELETE', keepalive: true }).catch(() => {});
    session = null;
  };
  addEventListener('pagehide', end);
  try {
    for (const kind of ['video', 'audio']) peer.addTransceiver(kind, { direction: 'recvonly' });
    await peer.setLocalDescription();
    const answer = await fetch(url, {
      ...{ method: 'POST', headers: SDP, body: peer.localDescription?.sdp ?? '' },
    });
    if (answer.status !== 201) throw new WhepRejectedError(answer.status);
    session = new URL(answer.headers.get('Location') ?? '', answer.url);
    await peer.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
  } catch (error) {
    end();
    throw error;
  }
  return { peer, stream, end };
}

/** Waits for media. @returns whether it arrived in time. */
export function hasConnected({ peer }: WhepConnection, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const decide = () => {
      if (peer.connectionState !== 'connected' && !isOver(peer)) return;
      clearTimeout(timer);
      resolve(!isOver(peer));
    };
    const timer = setTimeout(() => resolve(false), ms);
    peer.addEventListener('connectionstatechange', decide);
    decide();
  });
}

/** Plays a broadcast by WebRTC, some tenths of a second behind. Its end, whatever it is, is `gone`. */
export function attachWhep(
  video: HTMLVideoElement,
  { peer, stream, end }: WhepConnection,
  report: (event: EngineEvent) => void,
): Engine {
  const late = setTimeout(() => report('gone'), FIRST_MS);
  const unwatch = watchProgress(video, (event) => {
    clearTimeout(late);
    report(event);
  });
  const look = () => {
    if (isOver(peer)) report('gone');
  };
  peer.addEventListener('connectionstatechange', look);
  // The transports report the server's disconnect immediately, the peer connection some seconds later.
  for (const { transport } of peer.getReceivers()) transport?.addEventListener('statechange', look);
  video.srcObject = stream;
  return {
    opaque: false,
    facts: () => FACTS,
    destroy: () => {
      clearTimeout(late);
      unwatch();
      end();
      if (video.srcObject === stream) video.srcObject = null;
    },
  };
}
