import { isDiskError } from '../../platform/disk.ts';
import type { SourceCaptions, Transcoder } from '../contract/index.ts';
import { CAPTION_DECODERS, FILE_DECODERS } from '../ffmpeg/codecs.ts';
import { inputGuard } from '../ffmpeg/guard.ts';
import { readOutput, UnsafeOutputError } from '../ffmpeg/output.ts';
import { encodeLimits } from './limits.ts';
import { runTool, type Tools } from './run.ts';

/** Maximum size of captions; twelve hours of speech need a fifth of it. */
const MAX_BYTES = 4 * 2 ** 20;
/** Time limit for reading the whole file, which may be large and remote. */
const TIMEOUT_MS = 2 * 3_600_000;

/** Extracts all tracks in one pass; one by one when that fails, so that the intact ones are not lost. */
export async function extractCaptions(
  tools: Tools,
  run: Parameters<Transcoder['captions']>[0],
): Promise<(string | null)[]> {
  const { captions } = run.source;
  const all = await extract(tools, run, captions);
  if (all !== null || captions.length < 2) return all ?? captions.map(() => null);
  const texts: (string | null)[] = [];
  for (const one of captions) texts.push((await extract(tools, run, [one]))?.[0] ?? null);
  return texts;
}

/** Extracts the given tracks; null when ffmpeg fails. */
async function extract(
  tools: Tools,
  { input, source, outDir, signal }: Parameters<Transcoder['captions']>[0],
  captions: readonly SourceCaptions[],
): Promise<string[] | null> {
  const fileOf = ({ streamIndex }: SourceCaptions) => `captions_${streamIndex}.vtt`;
  const outputs = captions.flatMap((one) => [
    ...['-map', `0:${one.streamIndex}`, '-c:s', 'webvtt', '-map_metadata', '-1', '-f', 'webvtt', fileOf(one)],
  ]);
  try {
    await runTool(tools, {
      program: 'ffmpeg',
      cwd: outDir,
      args: [
        ...['-nostdin', '-v', 'error', '-y', ...inputGuard(input, `${FILE_DECODERS},${CAPTION_DECODERS}`)],
        ...outputs,
      ],
      limits: { ...encodeLimits(source, []), fileBytes: MAX_BYTES },
      looks: true,
      signal,
      timeoutMs: TIMEOUT_MS,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UnsafeOutputError || isDiskError(error)) throw error;
    tools.log.info({ err: error }, 'captions of a file could not be read');
    return null;
  }
  const texts: string[] = [];
  for (const one of captions) {
    texts.push((await readOutput(outDir, fileOf(one), MAX_BYTES)).toString('utf8'));
  }
  return texts;
}
