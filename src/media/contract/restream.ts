/** One destination that is to be sent to now. */
export interface DesiredPush {
  targetId: string;
  /** Another one asks for a new connection. */
  revision: number;
  streamId: string;
  platform: PushPlatform;
  /** `rtmp://`, `rtmps://` or `srt://`, without the key. */
  url: string;
  /** A secret: it goes to the destination and nowhere else. */
  streamKey: string | null;
  /** Likewise; what it is sent with over SRT. */
  passphrase: string | null;
}

export type PushPlatform = 'YOUTUBE' | 'TWITCH' | 'FACEBOOK' | 'KICK' | 'X' | 'CUSTOM';

/** What has become of a destination. IDLE waits for the encoder. */
export interface PushReport {
  targetId: string;
  revision: number;
  state: 'IDLE' | 'CONNECTING' | 'BROADCASTING' | 'ERRORED';
  /** FATAL is not tried again. */
  severity: 'NORMAL' | 'FATAL' | null;
  /** For people; never with a secret in it. */
  message: string | null;
  /** Attempts that have failed since it last sent for a while. */
  retryCount: number;
  retryInMs: number | null;
}

/** What the senders ask and tell; filled by the composition root. */
export interface RestreamPort {
  /** A media node starts: of its former life nothing is sent any more. */
  started(nodeId: string): Promise<void>;
  /**
   * What this node is to send now. Nobody else is told the same while this node's lease lasts.
   *
   * @param bitrates in kbit/s, by target: what was sent of late.
   */
  wanted(nodeId: string, bitrates: ReadonlyMap<string, number>): Promise<DesiredPush[]>;
  /** One that is out of date changes nothing. */
  report(nodeId: string, report: PushReport): Promise<void>;
}

/** How long a node may go on without having asked what is wanted; then another may send. */
export const PUSH_LEASE_MS = 30_000;
