import { badRequest } from '../../../kernel/errors.ts';
import { PLANS } from '../../../kernel/plans.ts';
import { type PushUrl, parsePushUrl } from '../../../kernel/push-url.ts';
import type {
  RestreamManualOverride,
  RestreamStartMode,
  RestreamTargetErrorSeverity,
  RestreamTargetPlatform,
  RestreamTargetState,
} from '../../../platform/db/tables.generated.ts';

/** Properties of a platform: its servers and the form of its stream keys. */
export interface Preset {
  name: string;
  /** Server URLs; the first is the default. */
  urls: readonly string[];
  /** Allowed hosts and their subdomains; empty allows any. */
  hosts: readonly string[];
  key: RegExp;
  /** Example of a key in that form, without access. */
  keyExample: string;
}

/** docs/decisions/restreams.md#presets */
export const PRESETS: Readonly<Record<RestreamTargetPlatform, Preset>> = {
  YOUTUBE: {
    name: 'YouTube',
    urls: ['rtmps://a.rtmps.youtube.com/live2', 'rtmp://a.rtmp.youtube.com/live2'],
    hosts: ['youtube.com'],
    key: /^[a-z0-9]{4}(-[a-z0-9]{4}){3,4}$/i,
    keyExample: 'abcd-efgh-ijkl-mnop-qrst',
  },
  TWITCH: {
    name: 'Twitch',
    urls: ['rtmps://live.twitch.tv/app', 'rtmp://live.twitch.tv/app'],
    hosts: ['twitch.tv', 'live-video.net'],
    key: /^live_\d+_[a-z0-9]+(\?bandwidthtest=true)?$/i,
    keyExample: 'live_123456789_abcdefghijklmnopqrstuvwxyz1234',
  },
  FACEBOOK: {
    name: 'Facebook',
    urls: ['rtmps://live-api-s.facebook.com/rtmp'],
    hosts: ['facebook.com'],
    key: /^(FB-)?\d{6,}[-?][\w\-?&=.%]+$/,
    keyExample: 'FB-1234567890123456-0-AbCdEfGhIjKlMnOp',
  },
  KICK: {
    name: 'Kick',
    urls: ['rtmps://fa723fc1b171.global-contribute.live-video.net/app'],
    hosts: ['kick.com', 'live-video.net'],
    key: /^sk_[a-z]{2}-[a-z]+-\d_[a-z0-9]+_[a-z0-9]+$/i,
    keyExample: 'sk_us-west-2_abcdefghijkl_abcdefghijklmnopqrstuvwxyz1234',
  },
  X: {
    name: 'X',
    urls: ['rtmps://va.pscp.tv/x', 'rtmp://va.pscp.tv:80/x'],
    hosts: ['pscp.tv', 'x.com'],
    key: /^[a-z0-9]{8,64}$/i,
    keyExample: 'abcdefghijklm',
  },
  CUSTOM: { name: 'Custom', urls: [], hosts: [], key: /^[\x21-\x7e]{1,512}$/, keyExample: 'a-stream-key' },
};

export const RESTREAM_STATUSES = ['IDLE', 'STARTING', 'ACTIVE', 'DEGRADED', 'FAILED', 'STOPPED'] as const;
export type RestreamStatus = (typeof RESTREAM_STATUSES)[number];
export const TARGET_STATUSES = ['IDLE', 'CONNECTING', 'BROADCASTING', 'ERRORED', 'DISABLED'] as const;
export type TargetStatus = (typeof TARGET_STATUSES)[number];

/** Maximum restreams of one stream. */
export const MAX_PER_STREAM = 20;
/** Maximum targets of all plans. */
export const MAX_TARGETS = Math.max(...Object.values(PLANS).map(({ restreamTargets }) => restreamTargets));

interface TargetState {
  enabled: boolean;
  state: RestreamTargetState;
  error_severity: RestreamTargetErrorSeverity | null;
}

export function targetStatus({ enabled, state }: TargetState): TargetStatus {
  return enabled ? state : 'DISABLED';
}

interface RunState {
  enabled: boolean;
  manual_override: RestreamManualOverride;
  is_running: boolean;
}

/** See docs/concepts/restreams.md#states. */
export function restreamStatus(run: RunState, targets: readonly TargetState[]): RestreamStatus {
  if (!run.is_running) return run.manual_override === 'STOPPED' || !run.enabled ? 'STOPPED' : 'IDLE';
  const enabled = targets.filter((target) => target.enabled);
  const sending = enabled.filter((target) => target.state === 'BROADCASTING').length;
  if (sending > 0) return sending === enabled.length ? 'ACTIVE' : 'DEGRADED';
  const isLost = enabled.length > 0 && enabled.every((target) => target.error_severity === 'FATAL');
  return isLost ? 'FAILED' : 'STARTING';
}

/** State of the stream that a restream follows. */
export interface Source {
  isLive: boolean;
  /** True with a signal, or when it was lost for less than the stream's reconnect window. */
  hasSignal: boolean;
  /** True when the stream exists and its account is in good standing. */
  isAllowed: boolean;
}

/**
 * Returns whether a restream should run, and the remaining manual override. `start` runs it early, after
 * which it follows its stream; `stop` holds it until the next time.
 */
export function desiredRunState(
  restream: { enabled: boolean; startMode: RestreamStartMode; manualOverride: RestreamManualOverride },
  source: Source,
): { manualOverride: RestreamManualOverride; isRunning: boolean } {
  const isTime =
    (restream.startMode === 'WITH_BROADCAST' && source.isLive) ||
    (restream.startMode === 'WITH_SIGNAL' && source.hasSignal);
  const follows = restream.startMode !== 'MANUAL';
  const isOver = follows && restream.manualOverride === (isTime ? 'STARTED' : 'STOPPED');
  const manualOverride = isOver ? 'AUTO' : restream.manualOverride;
  const isWanted = manualOverride === 'STARTED' || (manualOverride === 'AUTO' && isTime);
  return { manualOverride, isRunning: isWanted && restream.enabled && source.isAllowed };
}

/** Placeholder for a stored stream key, whose form is not checked. */
export const UNCHANGED_KEY: unique symbol = Symbol('unchanged stream key');

/** Target as spelled in the request. */
export interface TargetInput {
  platform: RestreamTargetPlatform;
  url: string | undefined;
  streamKey: string | typeof UNCHANGED_KEY | null | undefined;
  passphrase?: string | null | undefined;
}

/**
 * Parses the URL of a target and checks its form. The host is checked later.
 *
 * @param prefix of the names of fields, such as `targets.0.`.
 * @throws {AppError} BAD_REQUEST, field `url`, `streamKey` or `passphrase`.
 */
export function parseTarget(
  { platform, url: given, streamKey, passphrase }: TargetInput,
  prefix = '',
): { url: string; address: PushUrl } {
  const preset = PRESETS[platform];
  const url = given ?? preset.urls[0];
  if (url === undefined) throw badRequest(`${prefix}url`, 'url is required for CUSTOM targets.');
  const address = parsePushUrl(url);
  if (typeof address === 'string') throw badRequest(`${prefix}url`, `Invalid URL: ${address}.`);
  const isOther = preset.hosts.length > 0 && !preset.hosts.some((host) => isBelow(address.host, host));
  if (isOther) {
    throw badRequest(`${prefix}url`, `This URL does not belong to ${preset.name}; use platform CUSTOM.`);
  }
  if (address.scheme !== 'srt' && (streamKey ?? '') === '') {
    throw badRequest(`${prefix}streamKey`, 'streamKey is required for RTMP targets.');
  }
  if (address.scheme !== 'srt' && passphrase) {
    throw badRequest(`${prefix}passphrase`, 'passphrase is only allowed for SRT targets.');
  }
  if (streamKey && streamKey !== UNCHANGED_KEY && !preset.key.test(streamKey)) {
    throw badRequest(
      `${prefix}streamKey`,
      `A stream key ${platform === 'CUSTOM' ? 'must not contain spaces and must look' : `of ${preset.name} must look`} like ${preset.keyExample}.`,
    );
  }
  return { url, address };
}

function isBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

const SHOWN_FROM = 12;

/** Returns the end of a key; null for a short key, which it would reveal. */
export function lastFour(streamKey: string | null): string | null {
  return streamKey !== null && streamKey.length >= SHOWN_FROM ? streamKey.slice(-4) : null;
}
