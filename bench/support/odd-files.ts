/**
 * Unusual media file made of ffmpeg's own sources: a bright flash and a beep at the same moment, over moving
 * video.
 */
export interface OddFile {
  name: string;
  /** Commands one after the other, each with the name of its file last; `{}` is the name of the one before. */
  steps: string[][];
  /** Expected error code. */
  refusal?: string;
  /** 0.985 by default; lower for palette noise, which is not worth its bytes. */
  minSsim?: number;
  /** Filters that convert its video to the expected result. */
  reference?: string[];
}

const SEC = 4;
/** Time of the flash and the beep. */
export const MARK_SEC = 2;
const flash = `drawbox=c=white:t=fill:enable='between(t,${MARK_SEC},${MARK_SEC}.3)'`;

function picture(size = '640x360', rate: number | string = 30): string[] {
  return ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${rate}:d=${SEC},${flash}`];
}

function sound(channels = 2): string[] {
  const beep = `if(between(t,${MARK_SEC},${MARK_SEC}.3),sin(2*PI*880*t)*0.5,0)`;
  const all = Array.from({ length: channels }, () => beep).join('|');
  return ['-f', 'lavfi', '-i', `aevalsrc='${all}':s=48000:d=${SEC}`];
}

const H264 = '-c:v libx264 -preset veryfast -pix_fmt yuv420p'.split(' ');
const AAC = ['-c:a', 'aac', '-b:a', '128k'];
const HEVC10 =
  '-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params log-level=none:repeat-headers=1'.split(
    ' ',
  );
const hdr = (transfer: string) => [
  ...[
    '-vf',
    `zscale=t=${transfer}:p=bt2020:m=bt2020nc:r=tv:tin=bt709:pin=bt709:min=bt709,format=yuv420p10le`,
  ],
  ...['-color_trc', transfer, '-color_primaries', 'bt2020', '-colorspace', 'bt2020nc', '-tag:v', 'hvc1'],
];
/** Tone mapping for standard screens by docs/decisions/transcoding.md. */
const TONE_MAPPED = [
  'zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=hable:desat=0',
  'zscale=t=bt709:m=bt709:r=tv,format=yuv420p',
];
const words = (text: string) => text.split(' ');

function plain(name: string, options: string[], file: string, input = [...picture(), ...sound()]): OddFile {
  return { name, steps: [[...input, ...options, file]] };
}

export const ODD_FILES: OddFile[] = [
  plain('H.264', [...H264, ...AAC], 'plain.mp4'),
  plain(
    'variable rate',
    [...words("-vf select='not(between(mod(n,30),9,14))' -fps_mode vfr"), ...H264, ...AAC],
    'a.mkv',
  ),
  plain(
    'variable rate of a phone',
    [
      ...words(
        '-vf settb=1/90000,setpts=PTS+600*mod(N*7\\,5) -fps_mode passthrough -video_track_timescale 90000',
      ),
      ...H264,
      ...AAC,
    ],
    'phone.mp4',
  ),
  {
    name: 'rotated',
    steps: [
      [...picture(), ...sound(), ...H264, ...AAC, 'lying.mp4'],
      ['-i', '{}', '-c', 'copy', '-metadata:s:v:0', 'rotate=90', 'standing.mp4'],
    ],
  },
  {
    ...plain(
      'interlaced',
      words('-vf tinterlace=interleave_top -c:v mpeg2video -q:v 3 -flags +ildct+ilme -top 1 -c:a mp2'),
      'fields.ts',
      [...picture('720x576', 50), ...sound()],
    ),
    reference: ['bwdif=mode=send_frame:deint=interlaced'],
  },
  { ...plain('HDR, PQ', [...hdr('smpte2084'), ...HEVC10, ...AAC], 'pq.mp4'), reference: TONE_MAPPED },
  { ...plain('HDR, HLG', [...hdr('arib-std-b67'), ...HEVC10, ...AAC], 'hlg.mkv'), reference: TONE_MAPPED },
  plain('10 bits', [...HEVC10, ...AAC], 'ten.mp4'),
  plain('odd sizes', words('-c:v ffv1 -c:a flac'), 'odd.mkv', [...picture('607x341'), ...sound()]),
  plain('pixels that are not square', ['-vf', 'setsar=4/3', ...H264, ...AAC], 'wide.mp4'),
  plain('mono', [...H264, ...AAC], 'mono.mp4', [...picture(), ...sound(1)]),
  plain('5.1', [...H264, '-c:a', 'ac3'], 'surround.mkv', [...picture(), ...sound(6)]),
  plain('no sound', H264, 'silent.mp4', picture()),
  { ...plain('sound alone', AAC, 'song.m4a', sound()), refusal: 'NO_VIDEO_TRACK' },
  plain('4:4:4', [...words('-c:v libx264 -preset veryfast -pix_fmt yuv444p'), ...AAC], 'full.mp4'),
  plain('alpha', words('-c:v prores_ks -profile:v 4444 -pix_fmt yuva444p10le -c:a pcm_s16le'), 'alpha.mov'),
  plain('AVI', words('-c:v mpeg4 -q:v 3 -c:a libmp3lame'), 'a.avi'),
  plain('MOV', words('-c:v prores_ks -pix_fmt yuv422p10le -c:a pcm_s24le'), 'a.mov'),
  plain('WebM', words('-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 2M -c:a libopus'), 'a.webm'),
  plain(
    'WebM that begins late',
    words(
      '-c:v libvpx -deadline realtime -cpu-used 8 -b:v 2M -c:a libopus -output_ts_offset 5 -avoid_negative_ts disabled',
    ),
    'late.webm',
  ),
  plain('transport stream whose pictures begin later', [...H264, '-bf', '2', ...AAC], 'later.ts', [
    ...['-itsoffset', '0.15', ...picture()],
    ...sound(),
  ]),
  plain('transport stream', [...H264, ...AAC], 'a.ts'),
  { ...plain('MXF', words('-c:v mpeg2video -q:v 3 -c:a pcm_s16le'), 'a.mxf'), refusal: 'UNSUPPORTED_FORMAT' },
  plain('Ogg', words('-c:v libtheora -q:v 9 -c:a libvorbis'), 'a.ogv'),
  {
    name: 'edit list',
    steps: [
      [...picture(), ...sound(), ...H264, '-g', '60', '-bf', '3', ...AAC, 'whole.mp4'],
      ['-ss', '0.7', '-i', '{}', '-c', 'copy', 'edited.mp4'],
    ],
  },
  plain(
    'negative times of composition',
    [...H264, '-bf', '3', ...AAC, '-use_editlist', '0', '-movflags', '+negative_cts_offsets'],
    'negative.mp4',
  ),
  plain('one frame', ['-frames:v', '1', ...H264], 'one.mp4', picture()),
  plain('60 frames a second', [...H264, ...AAC], 'fast.mp4', [...picture('1280x720', 60), ...sound()]),
  plain('8K wide and narrow', [...H264, ...AAC], 'narrow.mp4', [...picture('7680x180'), ...sound()]),
  { ...plain('GIF', [], 'a.gif', picture('320x180', 10)), minSsim: 0.97 },
];
