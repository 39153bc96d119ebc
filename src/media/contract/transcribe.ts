export interface TranscribeRun {
  /** Absolute path of a file whose first audio track is the one to transcribe. */
  sound: string;
  durationSec: number;
  /** ISO 639 code of the spoken language; null lets the engine detect it. */
  language: string | null;
  /** Directory that exists and is exclusive to this run. */
  dir: string;
  signal: AbortSignal;
}

export interface Transcript {
  /** Language that the engine detected; null when it reports none. */
  language: string | null;
  /** WebVTT from the engine, or converted from its output; unvalidated. */
  text: string;
}

/**
 * Speech engine run as a command, under the guard of docs/decisions/untrusted-media.md. Rejects with a
 * `TranscriptError` when the engine is at fault, and with the signal's reason when it was aborted.
 */
export interface Transcriber {
  transcribe(run: TranscribeRun): Promise<Transcript>;
}

/** The engine failed, timed out or returned unreadable output. The message may be shown to the owner. */
export class TranscriptError extends Error {}
