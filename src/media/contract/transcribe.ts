export interface TranscribeRun {
  /** Absolute path of a file with the sound as its first audio track. */
  sound: string;
  durationSec: number;
  /** ISO 639 of what is spoken; null: the engine finds out. */
  language: string | null;
  /** Exists, and belongs to this run alone. */
  dir: string;
  signal: AbortSignal;
}

export interface Transcript {
  /** What the engine heard; null when it does not say. */
  language: string | null;
  /** WebVTT as the engine wrote it, or made of what it wrote: nothing in it has been checked. */
  text: string;
}

/**
 * A speech engine behind a command, under the guard of docs/decisions/untrusted-media.md. Rejects with a
 * `TranscriptError` when the engine is at fault, and with the signal's reason when it was aborted.
 */
export interface Transcriber {
  transcribe(run: TranscribeRun): Promise<Transcript>;
}

/** The engine failed, took too long or answered what nobody understands. The message may be shown to the owner. */
export class TranscriptError extends Error {}
