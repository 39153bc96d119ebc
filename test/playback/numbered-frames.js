// Reads the video and audio of a page, in a script that runs before those of the page. The possible aspect
// ratios of the content (width by height) are in `contentAspects`.
const INTERVAL_MS = 100;
const COLUMNS = 8;
const ROWS = 3;
/** Pixels of a block on the canvas; read in their middle. */
const BLOCK = 4;
/** Below and above which a block is black and white. */
const DARK = 90;
const BRIGHT = 165;
/** Peaks below it are silence. */
const MIN_DECIBELS = -60;

const canvas = new OffscreenCanvas(COLUMNS * BLOCK, ROWS * BLOCK);
const context = canvas.getContext('2d', { willReadFrequently: true });

/** Readings, oldest first. */
window.readings = [];
/** Time at which playback ended. */
window.endedAtSec = null;

/** The colors of the blocks, row by row, of content that has bars around it. */
function blocksOf(frame, aspect) {
  const { displayWidth, displayHeight } = frame;
  const width = Math.min(displayWidth, displayHeight * aspect);
  const height = Math.min(displayHeight, displayWidth / aspect);
  const [x, y] = [(displayWidth - width) / 2, (displayHeight - height) / 2];
  context.drawImage(frame, x, y, width, height, 0, 0, canvas.width, canvas.height);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  return Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: COLUMNS }, (_, column) => {
      const at = ((row + 0.5) * BLOCK * canvas.width + (column + 0.5) * BLOCK) * 4;
      return [...data.subarray(at, at + 3)];
    }),
  );
}

/** The number that the blocks show; null where they show none. */
function numberOf([bits, complement]) {
  let number = 0;
  for (const [column, [bit]] of bits.entries()) {
    const [other] = complement[column];
    const isOne = bit > BRIGHT && other < DARK;
    if (!isOne && !(bit < DARK && other > BRIGHT)) return null;
    number = number * 2 + (isOne ? 1 : 0);
  }
  return number;
}

/** Reads the current frame with its time, interpreting its content at each aspect ratio. */
function readFrame(video) {
  const frame = new VideoFrame(video);
  try {
    const contents = window.contentAspects.map((aspect) => {
      const blocks = blocksOf(frame, aspect);
      return { aspect, number: numberOf(blocks), patches: blocks[2] };
    });
    return { frameSec: frame.timestamp / 1e6, contents };
  } finally {
    frame.close();
  }
}

/** The loudest frequency; null for silence. */
function readTone(analyser, levels) {
  analyser.getFloatFrequencyData(levels);
  const peak = levels.indexOf(Math.max(...levels));
  return levels[peak] < MIN_DECIBELS ? null : (peak * analyser.context.sampleRate) / analyser.fftSize;
}

function follow(video) {
  const audio = new AudioContext();
  const analyser = new AnalyserNode(audio, { fftSize: 4096, smoothingTimeConstant: 0 });
  audio.createMediaElementSource(video).connect(analyser).connect(audio.destination);
  const levels = new Float32Array(analyser.frequencyBinCount);
  let lastSec = 0;
  setInterval(() => {
    const { currentTime: sec, paused, seeking, readyState, videoHeight: height } = video;
    const isMoving = sec > lastSec && !paused && !seeking;
    lastSec = sec;
    if (!isMoving || readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
    window.readings.push({ sec, height, hertz: readTone(analyser, levels), ...readFrame(video) });
  }, INTERVAL_MS);
  video.addEventListener('ended', () => {
    window.endedAtSec ??= video.currentTime;
  });
}

// Events of media do not bubble.
document.addEventListener('loadedmetadata', ({ target }) => follow(target), { capture: true, once: true });
