import { NAMES } from './section-names.ts';

/**
 * Plain client of WHIP (RFC 9725) in a page: `whip(url, streamKey)` publishes changing green video and a
 * tone, and returns the session description of the response. `window.pc` is its connection, `session` the URL
 * of its session. `more` are lines for the end of its offer, `encodings` those of its video, and `name` is
 * the prefix of its section names.
 */
export const WHIP_CLIENT = `${NAMES}
window.whip = async (url, streamKey, { more = '', encodings = [{}], name = '' } = {}) => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 });
  const paint = canvas.getContext('2d');
  setInterval(() => {
    paint.fillStyle = 'rgb(0 ' + (150 + (Date.now() % 40)) + ' 0)';
    paint.fillRect(0, 0, 640, 360);
  }, 66);
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const sound = audio.createMediaStreamDestination();
  tone.connect(sound);
  tone.start();
  window.pc = new RTCPeerConnection();
  for (const track of [...canvas.captureStream(15).getTracks(), ...sound.stream.getTracks()]) {
    const sendEncodings = track.kind === 'video' ? encodings : [{}];
    pc.addTransceiver(track, { direction: 'sendonly', sendEncodings });
  }
  await pc.setLocalDescription();
  const headers = { authorization: 'Bearer ' + streamKey, 'content-type': 'application/sdp' };
  const made = await fetch(url, { method: 'POST', headers, body: named(pc.localDescription.sdp, name) + more });
  const sdp = await made.text();
  if (made.status !== 201) throw new Error(sdp);
  window.session = new URL(made.headers.get('location'), made.url).href;
  await pc.setRemoteDescription({ type: 'answer', sdp: unnamed(sdp, name) });
  await audio.resume();
  return sdp;
};
`;
