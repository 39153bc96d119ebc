import { statSync } from 'node:fs';
import { isAbsolute, join, normalize } from 'node:path';
import { type TranscribeRun, type Transcriber, TranscriptError } from '../contract/index.ts';
import { inputGuard, type ProgramLimits } from '../ffmpeg/guard.ts';
import { checkOutputs, readOutput } from '../ffmpeg/output.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';
import { reportReader } from '../ffmpeg/text.ts';
import { runTool, type Tools } from '../transcode/run.ts';
import { fillCommand } from './command.ts';
import { parseEngineOutput } from './parse-output.ts';

export interface TranscriberOptions extends Tools {
  /** Words of the command, one of which contains `{input}`. */
  command: readonly string[];
  /** Bounds of one run; those of docs/guides/captions.md#limits by default. */
  limits?: { baseMs: number; perSecond: number };
}

const GB = 2 ** 30;
/** Time limit of a run: ten minutes, plus four times the duration of the audio. */
const LIMITS = { baseMs: 600_000, perSecond: 4 };
const MAX_CORES = 32;
const MEMORY_BYTES = 12 * GB;
const ANSWER_MAX_BYTES = 16 * 2 ** 20;
const SOUND = 'sound.wav';
const ANSWER = 'answer';
/** Endings that whisper.cpp appends to the given file name. */
const ENDINGS = ['', '.vtt', '.json'];
const WHISPER_RATE = '16000';

/**
 * Creates a speech engine that reads a WAV file and writes its result to standard output or a file
 * (docs/guides/captions.md).
 */
export function createTranscriber(options: TranscriberOptions): Transcriber {
  return {
    async transcribe(run) {
      await runTool(options, {
        program: 'ffmpeg',
        cwd: run.dir,
        args: [
          ...[
            '-nostdin',
            '-y',
            '-v',
            'error',
            '-stats_period',
            '1',
            ...inputGuard(run.sound),
            '-map',
            '0:a:0',
          ],
          ...['-af', `aresample=${WHISPER_RATE}:async=1:first_pts=0`, '-ac', '1', '-c:a', 'pcm_s16le'],
          ...['-map_metadata', '-1', '-f', 'wav', SOUND],
        ],
        limits: { memoryBytes: 4 * GB, cpuSec: 600 + run.durationSec, fileBytes: 4 * GB },
        signal: run.signal,
        onProgress: () => {},
      });
      return parseEngineOutput(await runEngine(options, run));
    },
  };
}

async function runEngine(options: TranscriberOptions, run: TranscribeRun): Promise<string> {
  const { baseMs, perSecond } = options.limits ?? LIMITS;
  const { dir, signal } = run;
  const [input, output] = [join(dir, SOUND), join(dir, ANSWER)];
  const [program, ...args] = fillCommand(options.command, { input, output, language: run.language });
  const timeoutMs = baseMs + run.durationSec * perSecond * 1000;
  const limits: ProgramLimits = {
    memoryBytes: MEMORY_BYTES,
    cpuSec: (timeoutMs / 1000) * MAX_CORES,
    fileBytes: ANSWER_MAX_BYTES,
  };
  const guard = await options.guard();
  const printed = reportReader(ANSWER_MAX_BYTES);
  signal.throwIfAborted();
  const child = spawnFfmpeg({
    program: await guard.start(program, limits, { reads: [], writes: dir, named: namedBy(options.command) }),
    args,
    cwd: dir,
    log: options.log,
    onOutput: printed.onOutput,
  });
  const enough = AbortSignal.any([signal, printed.isTooLong, AbortSignal.timeout(timeoutMs)]);
  const end = () => child.kill('SIGKILL');
  enough.addEventListener('abort', end);
  if (enough.aborted) end();
  const exit = await child.exited.finally(() => enough.removeEventListener('abort', end));
  signal.throwIfAborted();
  await checkOutputs(dir);
  if (exit.code === 0 && !enough.aborted) return (await fileOf(dir)) ?? printed.text();
  const { code, signal: by, stderr, spawnError } = exit;
  options.log.warn({ code, signal: by, spawnError, log: stderr.slice(-2000) }, 'the speech engine failed');
  if (printed.isTooLong.aborted) throw new TranscriptError('The output of the speech engine is too large.');
  throw new TranscriptError(enough.aborted ? 'The speech engine timed out.' : 'The speech engine failed.');
}

/** A model, or the script of an engine, is shown to it because the command names it. */
function namedBy(command: readonly string[]): string[] {
  return command
    .slice(1)
    .filter((word) => isAbsolute(word))
    .map((word) => normalize(word).replace(/(?<=.)\/$/, ''))
    .filter((path) => {
      const found = path === '/' ? undefined : statSync(path, { throwIfNoEntry: false });
      return found !== undefined && (found.isFile() || found.isDirectory());
    });
}

/** Reads the output file; null when there is none. */
async function fileOf(dir: string): Promise<string | null> {
  for (const ending of ENDINGS) {
    const bytes = await readOutput(dir, `${ANSWER}${ending}`, ANSWER_MAX_BYTES).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (bytes !== null) return bytes.toString('utf8');
  }
  return null;
}
