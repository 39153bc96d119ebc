import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface FakeHardware {
  /** Encoders that there are; default: `h264_nvenc` and `hevc_nvenc`. */
  encoders?: readonly string[];
  /** Its keyframes are where it likes. */
  isDeaf?: boolean;
  /** Encoding a file or a broadcast fails at its end. */
  failsLate?: boolean;
}

/**
 * Creates an ffmpeg that claims to have NVENC: a program that encodes in software instead of hardware. It is
 * identified by its H.264 profile, which is Baseline.
 *
 * @returns its path, in `dir`.
 */
export async function fakeNvenc(dir: string, name: string, options: FakeHardware = {}): Promise<string> {
  const { encoders = ['h264_nvenc', 'hevc_nvenc'], isDeaf = false, failsLate = false } = options;
  const path = join(dir, name);
  const script = SCRIPT.replace('ENCODERS', encoders.join(' '))
    .replace('IS_DEAF', String(Number(isDeaf)))
    .replace('FAILS_LATE', String(Number(failsLate)));
  await writeFile(path, script, { mode: 0o755 });
  return path;
}

const SCRIPT = String.raw`#!/bin/bash
encoders=" ENCODERS "
args=(); used=''; hardware=''; try=''
next() { args+=("$1" "$2"); }
while [ $# -gt 0 ]; do
  case "$1" in
    -c:v)
      hardware=''
      case "$2" in
        *_nvenc)
          case "$encoders" in
            *" $2 "*) ;;
            *) echo "Unknown encoder '$2'" >&2; exit 1 ;;
          esac
          hardware=$2; used=1
          case "$2" in
            h264_nvenc) next -c:v libx264 ;;
            hevc_nvenc) next -c:v libx265; next -x265-params log-level=error:pools=none:wpp=0:frame-threads=1:scenecut=0 ;;
            av1_nvenc) next -c:v libsvtav1 ;;
          esac ;;
        *) next "$1" "$2" ;;
      esac
      shift 2 ;;
    -preset|-preset:v)
      case "$hardware" in
        '') next "$1" "$2" ;;
        av1_nvenc) next "$1" 12 ;;
        *) next "$1" ultrafast ;;
      esac
      shift 2 ;;
    -profile:v)
      case "$hardware" in
        h264_nvenc) next "$1" baseline ;;
        *) next "$1" "$2" ;;
      esac
      shift 2 ;;
    -tune|-tune:v|-rc|-rc:v|-cq|-spatial-aq|-zerolatency:v|-delay:v)
      [ -n "$hardware" ] || next "$1" "$2"
      shift 2 ;;
    -forced-idr|-forced-idr:v)
      [ "$hardware" = av1_nvenc ] || next "$1" "$2"
      shift 2 ;;
    -force_key_frames)
      [ IS_DEAF = 1 ] || next "$1" "$2"
      shift 2 ;;
    lavfi) try=1; args+=("$1"); shift ;;
    *) args+=("$1"); shift ;;
  esac
done
if [ FAILS_LATE = 1 ] && [ -n "$used" ] && [ -z "$try" ]; then
  ffmpeg "\${args[@]}"
  echo '[h264_nvenc] EncodePicture failed!: device not available' >&2
  exit 187
fi
exec ffmpeg "\${args[@]}"
`.replaceAll('\\$', '$');
