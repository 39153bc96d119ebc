import { NAMES } from './section-names.ts';

/**
 * Plain client of WHEP (draft-ietf-wish-whep) in a page: `whep(url)` adds a `<video>` and returns `{status,
 * session, viewers}`, with the body of a response other than 201. `window.pc` is its connection, `more` are
 * lines for the end of its offer, and `name` is the prefix of its section names.
 */
export const WHEP_CLIENT = `${NAMES}
window.whep = async (url, more = '', name = '') => {
  const pc = new RTCPeerConnection();
  window.pc = pc;
  const stream = new MediaStream();
  pc.ontrack = ({ track }) => stream.addTrack(track);
  for (const kind of ['video', 'audio']) pc.addTransceiver(kind, { direction: 'recvonly' });
  await pc.setLocalDescription();
  const headers = { 'content-type': 'application/sdp' };
  const made = await fetch(url, { method: 'POST', headers, body: named(pc.localDescription.sdp, name) + more });
  const text = await made.text();
  if (made.status !== 201) return { status: made.status, body: text };
  await pc.setRemoteDescription({ type: 'answer', sdp: unnamed(text, name) });
  const video = document.createElement('video');
  Object.assign(video, { autoplay: true, srcObject: stream });
  document.body.append(video);
  const session = new URL(made.headers.get('location'), url).href;
  return { status: 201, session, viewers: made.headers.get('x-viewers') };
};
/** Sends one candidate, as clients do that gather it after their offer. */
window.trickle = async (session) => {
  const ice = window.pc.localDescription.sdp.match(/^a=ice-(ufrag|pwd):.*$/gm).slice(0, 2);
  const lines = [...ice, 'm=video 9 UDP/TLS/RTP/SAVPF 96', 'a=mid:0', 'a=candidate:1 1 udp 1 192.0.2.1 9 typ host', ''];
  const headers = { 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': '*' };
  return (await fetch(session, { method: 'PATCH', headers, body: lines.join('\\r\\n') })).status;
};
/** Statistics so far: complete frames, audio level, and concealed audio samples. */
window.received = async () => {
  const found = { frames: 0, energy: 0, samples: 0, concealed: 0, state: window.pc.connectionState };
  for (const one of (await window.pc.getStats()).values()) {
    if (one.type !== 'inbound-rtp') continue;
    if (one.kind === 'video') found.frames = one.framesDecoded ?? 0;
    else {
      found.energy = one.totalAudioEnergy ?? 0;
      found.samples = one.totalSamplesReceived ?? 0;
      found.concealed = (one.concealedSamples ?? 0) - (one.silentConcealedSamples ?? 0);
    }
  }
  return found;
};
`;

/** Result of the script above. */
export interface WhepAnswer {
  status: number;
  session?: string;
  viewers?: string;
  body?: string;
}

export interface Received {
  frames: number;
  energy: number;
  samples: number;
  concealed: number;
  state: string;
}
