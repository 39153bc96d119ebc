import type { Dialer } from '../../platform/outbound/dialer.ts';
import type { PushReport } from '../contract/index.ts';
import { Feed } from './feed.ts';
import { type OpenPush, Push } from './push.ts';
import { pushRtmp } from './rtmp-push.ts';
import { type Muxer, pushSrt } from './srt-push.ts';
import type { VerifiedPush } from './verified-keys.ts';

export interface SenderOptions {
  outbound: Dialer;
  /** Muxer of MPEG-TS, for SRT. */
  muxer: Muxer;
  report(report: PushReport): void;
  backoffMs?: readonly number[];
}

/** Sends one broadcast to its destinations, each by itself. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #feed = new Feed(() => performance.now());
  readonly #pushes = new Map<string, Push>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#feed.onChange(() => {
      for (const push of this.#pushes.values()) push.feedChanged();
    });
  }

  /** Bytes of FLV files, one for each connection of the encoder. */
  input(chunk: Buffer): void {
    this.#feed.push(chunk);
  }

  /** All that is to be sent from now on. */
  want(wanted: readonly VerifiedPush[]): void {
    const byId = new Map(wanted.map((one) => [one.targetId, one]));
    const ending = new Map<string, Promise<void>>();
    for (const [targetId, push] of this.#pushes) {
      if (byId.get(targetId)?.revision === push.revision) continue;
      this.#pushes.delete(targetId);
      ending.set(targetId, push.stop());
    }
    for (const one of wanted) {
      if (!this.#pushes.has(one.targetId))
        this.#pushes.set(one.targetId, this.#begin(one, ending.get(one.targetId)));
    }
  }

  /** Returns the bitrates of active targets in kbit/s, since the last call. */
  bitrates(): [targetId: string, kbps: number][] {
    return [...this.#pushes].flatMap(([targetId, push]) => {
      const kbps = push.bitrateKbps();
      return kbps === null ? [] : [[targetId, kbps]];
    });
  }

  async stop(): Promise<void> {
    const pushes = [...this.#pushes.values()];
    this.#pushes.clear();
    await Promise.all(pushes.map((push) => push.stop()));
  }

  #begin(wanted: VerifiedPush, after: Promise<void> | undefined): Push {
    const { outbound, muxer, report, backoffMs } = this.#options;
    const feed = this.#feed;
    const open: OpenPush = (address, streamKey) =>
      address.scheme === 'srt'
        ? pushSrt({ outbound, feed, address, streamKey, passphrase: wanted.passphrase, muxer })
        : pushRtmp({ outbound, feed, address, streamKey: streamKey ?? '' });
    return new Push({
      ...{ wanted, feed, open, report },
      ...(after === undefined ? {} : { after }),
      ...(backoffMs === undefined ? {} : { backoffMs }),
    });
  }
}
