/** Restream target to send to. */
export interface DesiredPush {
  targetId: string;
  /** Revision of the settings; a change requires a new connection. */
  revision: number;
  streamId: string;
  platform: PushPlatform;
  /** `rtmp://`, `rtmps://` or `srt://`, without the key. */
  url: string;
  /** Stream key, a secret: sent only to the target. */
  streamKey: string | null;
  /** SRT passphrase, a secret as well. */
  passphrase: string | null;
}

export type PushPlatform = 'YOUTUBE' | 'TWITCH' | 'FACEBOOK' | 'KICK' | 'X' | 'CUSTOM';

/** Status report of a target. IDLE waits for the encoder. */
export interface PushReport {
  targetId: string;
  revision: number;
  state: 'IDLE' | 'CONNECTING' | 'BROADCASTING' | 'ERRORED';
  /** FATAL is not retried. */
  severity: 'NORMAL' | 'FATAL' | null;
  /** Human-readable; never contains a secret. */
  message: string | null;
  /** Failed attempts since the last stable connection. */
  retryCount: number;
  retryInMs: number | null;
}

/** Port of the restream senders; filled by the composition root. */
export interface RestreamPort {
  /** Called when a media node starts: releases the targets of its previous process. */
  started(nodeId: string): Promise<void>;
  /**
   * Returns the targets that this node is to send to now. No other node gets them while this node's lease
   * lasts.
   *
   * @param bitrates recent send bitrates in kbit/s, by target.
   */
  wanted(nodeId: string, bitrates: ReadonlyMap<string, number>): Promise<DesiredPush[]>;
  /** One that is out of date changes nothing. */
  report(nodeId: string, report: PushReport): Promise<void>;
}

/** Longest time a node may send without polling the desired state; then another node may send. */
export const PUSH_LEASE_MS = 30_000;
