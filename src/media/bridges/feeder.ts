import type {
  IngestEndReason,
  IngestEngine,
  IngestProtocol,
  MediaMessage,
  Publication,
  PublishGrant,
} from '../contract/index.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import { READ_BUDGETS } from '../read-budget.ts';
import { PushError, toPushError } from '../restream/failure.ts';

/** Error raised when another publisher takes over the stream. */
export class PublisherReplacedError extends Error {
  override name = 'PublisherReplacedError';
}

export interface FeederOptions {
  engine: Pick<IngestEngine, 'publish'>;
  grant: PublishGrant;
  /** Default: a bridge, which replaces no other publisher. */
  protocol?: IngestProtocol;
  /** Called when the first frame was sent. */
  onActive(): void;
  /** Called when it ends other than by `end`. */
  onEnd(error: PushError | PublisherReplacedError): void;
}

const END_REASON_MESSAGES: Readonly<Partial<Record<IngestEndReason, string>>> = {
  kicked:
    'The stream ended the publish session: it is disabled, its key was reset, or the media is not supported.',
  idle: 'The source stopped sending.',
};

/** Publisher of a source's media, from the first frame on: a source without frames raises no signal. */
export class Feeder {
  readonly #options: FeederOptions;
  #publication: Publication | null = null;
  #opening: Promise<void> | null = null;
  #waiting: MediaMessage[] = [];
  #waitingBytes = 0;
  #isOver = false;
  #isActive = false;

  constructor(options: FeederOptions) {
    this.#options = options;
  }

  /** Publish session's ID; null before its first frame. */
  get sessionId(): string | null {
    return this.#publication?.sessionId ?? null;
  }

  message(message: MediaMessage): void {
    if (this.#isOver) return;
    if (this.#publication !== null) {
      this.#publication.media(message);
      this.#tell(message);
      return;
    }
    this.#wait(message);
    this.#opening ??= this.#open().catch((error: unknown) =>
      this.#options.onEnd(toPushError(error, 'source')),
    );
  }

  /** @param isFinal otherwise the signal waits for the next attempt, as for an encoder that reconnects. */
  async end(isFinal: boolean): Promise<void> {
    this.#isOver = true;
    await this.#opening;
    await this.#publication?.end(isFinal ? 'unpublish' : 'closed');
  }

  /** Holds a message until the publish is open. What exceeds the budget is left out. */
  #wait(message: MediaMessage): void {
    const { items, bytes } = READ_BUDGETS.bridgePublish;
    const { length } = message.payload;
    if (this.#waiting.length >= items || this.#waitingBytes + length > bytes) return;
    this.#waiting.push(message);
    this.#waitingBytes += length;
  }

  async #open(): Promise<void> {
    const { engine, grant, onEnd, protocol = 'bridge' } = this.#options;
    const publication = await engine.publish(grant, protocol, (reason) => this.#ended(reason));
    if (publication === null) {
      this.#isOver = true;
      onEnd(
        new PushError(
          'normal',
          'The stream cannot accept an encoder now: one is already connected, or the plan limit is reached.',
        ),
      );
      return;
    }
    this.#publication = publication;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) {
      publication.media(message);
      this.#tell(message);
    }
  }

  #tell({ type }: MediaMessage): void {
    if (this.#isActive || type === FlvTagType.script) return;
    this.#isActive = true;
    this.#options.onActive();
  }

  #ended(reason: IngestEndReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const words = END_REASON_MESSAGES[reason] ?? `The publish session ended (${reason}).`;
    this.#options.onEnd(
      reason === 'replaced' ? new PublisherReplacedError() : new PushError('normal', words),
    );
  }
}
