import Type from 'typebox';
import { compileSchema } from '../../platform/schema-validator.ts';
import { type Transcript, TranscriptError } from '../contract/index.ts';

/** Output of `whisper.cpp --output-json`; times in milliseconds. */
const Whisper = compileSchema(
  Type.Object({
    result: Type.Optional(Type.Object({ language: Type.Optional(Type.String({ maxLength: 35 })) })),
    transcription: Type.Array(
      Type.Object({
        offsets: Type.Object({ from: Type.Number({ minimum: 0 }), to: Type.Number({ minimum: 0 }) }),
        text: Type.String(),
      }),
    ),
  }),
);

/** @throws {TranscriptError} for output that is neither WebVTT nor the JSON of whisper.cpp. */
export function parseEngineOutput(answer: string): Transcript {
  const text = answer.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('WEBVTT')) return { language: languageOf(text), text };
  const parsed = parse(text);
  if (!Whisper.matches(parsed)) {
    throw new TranscriptError('The speech engine returned neither WebVTT nor whisper.cpp JSON.');
  }
  const cues = parsed.transcription
    .map(({ offsets: { from, to }, text: said }) => ({ from, to, said: said.replace(/\s+/g, ' ').trim() }))
    .filter(({ from, to, said }) => to > from && said !== '')
    .map(({ from, to, said }) => `${timestamp(from)} --> ${timestamp(to)}\n${escaped(said)}\n`);
  return { language: parsed.result?.language ?? null, text: `WEBVTT\n\n${cues.join('\n')}` };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Reads the language from the WebVTT header, where some engines write it. */
function languageOf(text: string): string | null {
  const [head = ''] = text.split(/\r?\n\r?\n/, 1);
  return /^Language:[ \t]*([\w-]{2,35})[ \t]*$/m.exec(head)?.[1] ?? null;
}

/** `hh:mm:ss.mmm` */
function timestamp(ms: number): string {
  const part = (divisor: number, modulus: number, digits: number) =>
    String(Math.floor(ms / divisor) % modulus).padStart(digits, '0');
  return `${part(3_600_000, 1000, 2)}:${part(60_000, 60, 2)}:${part(1000, 60, 2)}.${part(1, 1000, 3)}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
