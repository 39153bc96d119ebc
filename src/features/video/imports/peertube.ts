import Type, { type Static } from 'typebox';
import { parseJson } from '../../../platform/json.ts';
import type { Outbound } from '../../../platform/outbound/index.ts';
import { compileSchema } from '../../../platform/schema-validator.ts';
import { failureOfStatus, ImportFailure, peerTubeId } from './rules.ts';

const File = Type.Object({
  resolution: Type.Object({ id: Type.Number() }),
  size: Type.Optional(Type.Number()),
  fileUrl: Type.String(),
  hasVideo: Type.Optional(Type.Boolean()),
});
/** Required part of PeerTube's response to `GET /api/v1/videos/{id}`. */
const Answer = Type.Object({
  files: Type.Array(File),
  streamingPlaylists: Type.Optional(Type.Array(Type.Object({ files: Type.Array(File) }))),
});
type Answer = Static<typeof Answer>;
const answers = compileSchema(Answer);

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 2 ** 20;

/** Returns the URL of the best file of a PeerTube watch page. */
export async function peerTubeFile(outbound: Pick<Outbound, 'download'>, page: URL): Promise<string> {
  const { status, bytes } = await outbound.download({
    url: new URL(`/api/v1/videos/${peerTubeId(page) ?? ''}`, page).href,
    headers: { Accept: 'application/json' },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    maxRedirects: 2,
    sameHost: true,
    http: true,
  });
  if (status !== 200) throw failureOfStatus("The page's server", status);
  const answer = parsed(bytes);
  const files = answer === null ? [] : filesOf(answer);
  const best = files.toSorted(
    (a, b) => b.resolution.id - a.resolution.id || (b.size ?? 0) - (a.size ?? 0),
  )[0];
  if (best === undefined) {
    throw new ImportFailure('UNSUPPORTED_FORMAT', 'The URL is not a page of a video with a file.');
  }
  return best.fileUrl;
}

function filesOf({ files, streamingPlaylists = [] }: Answer): Static<typeof File>[] {
  const all = [...files, ...streamingPlaylists.flatMap((playlist) => playlist.files)];
  // Audio-only files have a resolution of 0.
  return all.filter((file) => file.resolution.id > 0 && file.hasVideo !== false);
}

function parsed(bytes: Buffer): Answer | null {
  try {
    const value = parseJson(bytes.toString());
    return answers.matches(value) ? value : null;
  } catch {
    return null;
  }
}
