import Hls, {
  type BufferAppendedData,
  type ErrorData,
  ErrorDetails,
  ErrorTypes,
  Events,
  type HlsConfig,
} from 'hls.js';
import { type AudioTrackList, writeLabel } from './audio-tracks.ts';
import type { Engine, EngineEvent, EngineState } from './playback.ts';
import { watchProgress } from './progress.ts';
import { renderQualityMenu } from './qualities.ts';
import type { RenditionList } from './renditions.ts';

const common: Partial<HlsConfig> = {
  // Our segments are fMP4, which needs no transmuxing worth a worker.
  enableWorker: false,
  backBufferLength: 60,
  capLevelToPlayerSize: true,
};
const broadcastConfig: Partial<HlsConfig> = {
  ...common,
  // The playlist defines the distance behind live: liveSyncDurationCount here would override it. Catches up
  // by playing 5 % faster, which is inaudible.
  maxLiveSyncPlaybackRate: 1.05,
  liveDurationInfinity: true,
};
/**
 * Distance beyond the live edge, in seconds, at which playback of a low-latency playlist seeks instead of
 * speeding up.
 */
const FAR_BEHIND_SEC = 5;
const FAR_BEHIND_SEGMENTS = 10;

/**
 * Distance behind live, in seconds. Playback beyond it keeps its position; seeking forward to within it
 * returns to live.
 */
const BEHIND_SEC = 12;
/** Minimum seek backward, in seconds, that is taken as intended. hls.js itself only seeks forward. */
const BACK_SEC = 2;
/** Header with the number of viewers, sent with each playlist of a broadcast. */
const VIEWERS_HEADER = 'x-viewers';

export interface EngineReport {
  report(event: EngineEvent): void;
  /** The choice of quality. */
  renditions: RenditionList;
  /** Selectable audio tracks. */
  audioTracks: AudioTrackList;
  onViewers(count: number): void;
}

/** Options for playing a video. */
export interface VideoOptions {
  /** Second at which to begin, evaluated when loading starts. */
  startSec(): number;
  /** Load the first seconds before playback is requested. */
  isEager: boolean;
}

const MISSING: ReadonlySet<number> = new Set([401, 403, 404, 410]);
const PLAYLIST_ERRORS: ReadonlySet<string> = new Set([
  ErrorDetails.MANIFEST_LOAD_ERROR,
  ErrorDetails.LEVEL_LOAD_ERROR,
  ErrorDetails.AUDIO_TRACK_LOAD_ERROR,
]);
const UNSUPPORTED: ReadonlySet<string> = new Set([
  ErrorDetails.MANIFEST_INCOMPATIBLE_CODECS_ERROR,
  ErrorDetails.BUFFER_INCOMPATIBLE_CODECS_ERROR,
  ErrorDetails.BUFFER_ADD_CODEC_ERROR,
]);
/** A second decoder failure so soon means that the first remedy did not help. */
const RECOVERY_MS = 5000;

export function canUseHls(): boolean {
  return Hls.isSupported();
}

/** Plays through Media Source Extensions: a video if its options are passed, otherwise a broadcast. */
export function attachHls(
  video: HTMLVideoElement,
  src: string,
  { report, renditions, audioTracks, onViewers }: EngineReport,
  options: VideoOptions | null,
): Engine {
  const hls = new Hls(options === null ? broadcastConfig : videoConfig(options));
  let hasData = false;
  let recoveredAt = Number.NEGATIVE_INFINITY;
  // hls.js continues to use its state after it reports an error, so destroying it must wait for a microtask.
  const tell = (event: EngineEvent) => queueMicrotask(() => report(event));

  const recover = () => {
    const now = performance.now();
    if (now - recoveredAt < RECOVERY_MS) return tell('media');
    recoveredAt = now;
    hls.recoverMediaError();
  };
  const onError = (_event: Events.ERROR, error: ErrorData) => {
    if (PLAYLIST_ERRORS.has(error.details) && MISSING.has(error.response?.code ?? 0)) return tell('gone');
    if (error.details === ErrorDetails.LEVEL_EMPTY_ERROR && !hasData) return tell('empty');
    if (!error.fatal) return;
    if (UNSUPPORTED.has(error.details)) return tell('unsupported');
    if (error.type === ErrorTypes.NETWORK_ERROR) return tell('network');
    if (error.type === ErrorTypes.MEDIA_ERROR) return recover();
    tell('media');
  };

  hls.on(Events.ERROR, onError);
  hls.on(Events.FRAG_BUFFERED, () => {
    hasData = true;
  });
  // Its playlist was complete: the broadcast has stopped, and this was the rest. A video can be played again.
  const onEnded = () => tell('gone');
  if (options === null) video.addEventListener('ended', onEnded);
  const unwatch = watchProgress(video, report);
  // A viewer who is behind live stays there, with the renditions of that time.
  const onOthers = () => hls.latency < BEHIND_SEC && tell('changed');
  const undo = [
    renderQualityMenu(hls, renditions, options === null ? { src, onOthers } : null),
    offerAudioTracks(hls, audioTracks),
    options === null ? followBroadcast(hls, video, onViewers) : waitForViewer(hls, video, options, tell),
  ];
  if (options !== null) endAfterShortSegment(hls);
  hls.loadSource(src);
  hls.attachMedia(video);
  return {
    opaque: false,
    facts: () => factsOf(hls),
    destroy: () => {
      unwatch();
      video.removeEventListener('ended', onEnded);
      for (const one of undo) one();
      hls.destroy();
    },
  };
}

function factsOf(hls: Hls): EngineState {
  const level = hls.levels[hls.currentLevel] ?? hls.levels[hls.loadLevel];
  const details = level?.details ?? hls.latestLevelDetails;
  const isLive = details?.live === true;
  const { videoCodec, audioCodec } = level ?? {};
  return {
    protocol: isLive && details.partTarget > 0 ? 'Low-Latency HLS' : 'HLS',
    liveSec: isLive ? hls.liveSyncPosition : null,
    delaySec: isLive ? hls.latency : null,
    frameRate: level === undefined || !(level.frameRate > 0) ? null : level.frameRate,
    bitrate: level?.bitrate ?? null,
    bandwidth: hls.bandwidthEstimate,
    codecs: [videoCodec, audioCodec].filter((codec) => codec !== undefined).join(', ') || null,
  };
}

/** Stays near the live edge unless the viewer seeks back. @returns a function that stops this. */
function followBroadcast(
  hls: Hls,
  video: HTMLVideoElement,
  onViewers: EngineReport['onViewers'],
): () => void {
  const { config } = hls;
  let isBehind = false;
  let lastSec = 0;
  let nearSec = Number.POSITIVE_INFINITY;
  const look = () => {
    const { liveSyncPosition: live } = hls;
    const wentBack = video.currentTime < lastSec - BACK_SEC;
    const lackSec = live === null ? 0 : live - video.currentTime;
    isBehind = video.paused || lackSec > (wentBack ? BACK_SEC : BEHIND_SEC);
  };
  Object.defineProperty(config, 'liveMaxLatencyDuration', {
    get() {
      // A playlist may arrive between a seek and its event, and hls.js would undo the seek.
      if (video.seeking) look();
      return isBehind ? Number.POSITIVE_INFINITY : nearSec;
    },
  });
  const goOn = () => {
    if (!video.seeking) lastSec = video.currentTime;
  };
  hls.on(Events.LEVEL_LOADED, (_event, { details: { partHoldBack, targetduration }, networkDetails }) => {
    nearSec = partHoldBack > 0 ? partHoldBack + FAR_BEHIND_SEC : FAR_BEHIND_SEGMENTS * targetduration;
    const viewers =
      networkDetails instanceof XMLHttpRequest && networkDetails.getResponseHeader(VIEWERS_HEADER);
    if (typeof viewers === 'string' && /^\d{1,9}$/.test(viewers)) onViewers(Number(viewers));
  });
  // Only on seeks: a viewer delayed by the network should catch up.
  for (const name of LOOKS) video.addEventListener(name, look);
  video.addEventListener('timeupdate', goOn);
  return () => {
    video.removeEventListener('timeupdate', goOn);
    for (const name of LOOKS) video.removeEventListener(name, look);
  };
}

const LOOKS = ['seeking', 'pause', 'play'] as const;

/** Renditions of a video end at the same time within one frame. */
const SAME_END_SEC = 0.1;

/**
 * Ends a track whose last segment has one or two frames. hls.js does not read edit lists, so it looks for such a segment
 * behind the end of the buffer; it takes the segment for a gap, and waits forever for the rest.
 */
function endAfterShortSegment(hls: Hls): void {
  const ends = { audio: Number.POSITIVE_INFINITY, video: Number.POSITIVE_INFINITY };
  let ranges: BufferAppendedData['timeRanges'] = {};
  hls.on(Events.BUFFER_APPENDED, (_event, { timeRanges }) => {
    ranges = timeRanges;
  });
  hls.on(Events.FRAG_BUFFERED, (_event, { frag }) => {
    if (frag.type === 'subtitle') return;
    const type = frag.type === 'audio' ? 'audio' : 'video';
    const range = ranges[type];
    if (range?.length !== 1) return;
    const endSec = range.end(0);
    if (frag.endList === true && frag.gap === true) ends[type] = endSec;
    // A change of quality opens the track again.
    if (endSec > ends[type] - SAME_END_SEC) hls.trigger(Events.BUFFER_EOS, { type });
  });
}

function videoConfig({ startSec, isEager }: VideoOptions): Partial<HlsConfig> {
  return { ...common, startPosition: startSec(), autoStartLoad: isEager };
}

/** @returns a function that stops this. */
function offerAudioTracks(hls: Hls, audioTracks: AudioTrackList): () => void {
  audioTracks.onSelect = (index) => {
    hls.audioTrack = index;
  };
  hls.on(Events.AUDIO_TRACKS_UPDATED, (_event, { audioTracks: tracks }) => {
    const items = tracks.map(({ name, lang = '', characteristics = '' }) => {
      const kind = characteristics.includes('describes-video') ? 'main-desc' : 'main';
      return { kind, label: writeLabel(name), language: lang };
    });
    audioTracks.replace(items, hls.audioTrack);
  });
  hls.on(Events.AUDIO_TRACK_SWITCHING, () => audioTracks.show(hls.audioTrack));
  return () => {
    audioTracks.onSelect = () => {};
  };
}

/** Delays loading a video until playback is requested. @returns a function that cancels the wait. */
function waitForViewer(
  hls: Hls,
  video: HTMLVideoElement,
  { startSec, isEager }: VideoOptions,
  tell: (event: EngineEvent) => void,
): () => void {
  if (isEager) return () => {};
  const onPlay = () => hls.startLoad(startSec());
  video.addEventListener('play', onPlay, { once: true });
  // Nothing is decoded before playback is requested; the poster is shown instead.
  hls.on(Events.MANIFEST_PARSED, () => tell('ready'));
  return () => video.removeEventListener('play', onPlay);
}
