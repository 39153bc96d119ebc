// Script of the studio's pages.
const connections = [];
const Native = RTCPeerConnection;
window.RTCPeerConnection = class extends Native {
  constructor(configuration) {
    super(configuration);
    connections.push(this);
  }
};

const identity = new URLSearchParams(location.search).get('identity');
const tracks = new Map();
const elements = [];
let engine = null;

const loaders = {
  janus: async () => (await import('/client/janus.ts')).createJanus,
  livekit: async () => (await import('/client/livekit.ts')).createLivekit,
  mesh: async () => (await import('/client/mesh.ts')).createMesh,
};

const socket = new WebSocket(`ws://${location.host}/${encodeURIComponent(identity)}`);
let work = Promise.resolve();
socket.onmessage = ({ data }) => {
  work = work.then(() => take(JSON.parse(data)));
};

async function take(message) {
  if (message.refused !== undefined) console.error(message.refused);
  if (message.welcome !== undefined) {
    const create = await loaders[message.welcome]();
    engine = create({
      self: identity,
      iceServers: message.iceServers,
      send: (data) => socket.send(JSON.stringify(data)),
      onTrack(from, source, track) {
        tracks.set(`${from} ${source} ${track.kind}`, track);
        play(track);
      },
      onTrackGone(from, source) {
        for (const kind of ['audio', 'video']) tracks.delete(`${from} ${source} ${kind}`);
      },
      onState() {},
    });
    window.studio.isIn = true;
  }
  if (message.signal !== undefined) engine?.signal(message.signal);
  if (message.peers !== undefined) engine?.setPeers(message.peers);
  if (message.engine === 'up') engine?.restart();
}

function play(track) {
  const element = document.createElement(track.kind);
  element.srcObject = new MediaStream([track]);
  element.muted = track.kind === 'video';
  document.body.append(element);
  elements.push(element);
  element.play().catch(() => {});
}

async function trackOf(source) {
  if (source === 'SCREEN') return screen();
  const isCamera = source === 'CAMERA';
  const wish = isCamera ? { video: { width: 320, height: 180 } } : { audio: true };
  const [track] = (await navigator.mediaDevices.getUserMedia(wish)).getTracks();
  return track;
}

function screen() {
  const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 200 });
  const context = canvas.getContext('2d');
  setInterval(() => {
    context.fillStyle = `hsl(${Math.random() * 360} 80% 50%)`;
    context.fillRect(0, 0, 320, 200);
  }, 100);
  return canvas.captureStream(10).getVideoTracks()[0];
}

window.studio = {
  isIn: false,
  async publish(sources) {
    const wanted = await Promise.all(
      sources.map(async (source) => ({ source, track: await trackOf(source) })),
    );
    await engine.publish(wanted);
  },
  unpublish: (source) => engine.unpublish(source),
  async arrived(name) {
    const track = tracks.get(name);
    for (const connection of connections) {
      if (connection.signalingState === 'closed') continue;
      const receiver = connection.getReceivers().find((one) => one.track === track);
      if (receiver === undefined) continue;
      for (const entry of (await receiver.getStats()).values()) {
        if (entry.type !== 'inbound-rtp') continue;
        const { framesDecoded = 0, totalAudioEnergy = 0, frameWidth = 0 } = entry;
        return { frames: framesDecoded, energy: totalAudioEnergy, width: frameWidth };
      }
    }
    return null;
  },
  async ways() {
    const used = [];
    for (const connection of connections) {
      if (connection.connectionState !== 'connected') continue;
      const stats = await connection.getStats();
      for (const entry of stats.values()) {
        if (entry.type !== 'candidate-pair' || !entry.nominated || entry.state !== 'succeeded') continue;
        used.push(stats.get(entry.localCandidateId).candidateType);
      }
    }
    return used;
  },
};
