import { existsSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { hasNginx, startNginx } from '../../test/harness/nginx.ts';
import { freePort } from '../../test/harness/platform.ts';
import { waitFor } from '../../test/harness/wait-for.ts';

export interface NginxHls {
  /** URL to which an encoder publishes. */
  publishTo: string;
  /** URL of a page with a player of the published stream. */
  page: string;
  untilPlayable(): Promise<void>;
  close(): Promise<void>;
}

const MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';
const HLS_JS = fileURLToPath(new URL('../../node_modules/hls.js/dist/hls.min.js', import.meta.url));
const PAGE = `<!doctype html><video muted autoplay playsinline></video><script src="hls.min.js"></script>
<script>const hls = new Hls(); hls.loadSource('hls/camera.m3u8'); hls.attachMedia(document.querySelector('video'));</script>`;

/**
 * Starts nginx with its rtmp module, which makes HLS of segments of two seconds; null if it is not installed.
 */
export async function startNginxHls(): Promise<NginxHls | null> {
  if (!(hasNginx() && existsSync(MODULE))) return null;
  const port = await freePort();
  const hls = 'hls on; hls_path /var/cache/nginx/hls; hls_fragment 2s; hls_playlist_length 16s;';
  const rtmp = `rtmp { server { listen 127.0.0.1:${port}; application live { live on; ${hls} } } }`;
  const nginx = await startNginx(
    'root /var/cache/nginx; add_header Cache-Control no-cache;',
    'types { text/html html; application/vnd.apple.mpegurl m3u8; video/mp2t ts; text/javascript js; }',
    `load_module ${MODULE};\n${rtmp}\n`,
  );
  await copyFile(HLS_JS, `${nginx.dir}/hls.min.js`);
  await writeFile(`${nginx.dir}/index.html`, PAGE);
  return {
    publishTo: `rtmp://127.0.0.1:${port}/live/camera`,
    page: `${nginx.url}/index.html`,
    untilPlayable: () =>
      waitFor(async () => (await fetch(`${nginx.url}/hls/camera.m3u8`)).ok, { timeoutMs: 30_000 }).then(
        () => {},
      ),
    close: () => nginx.close(),
  };
}
