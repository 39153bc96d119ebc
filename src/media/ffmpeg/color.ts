import type { VideoRange } from '../contract/index.ts';

/** Color description of a file (ITU-T H.273), in the names of ffprobe; unspecified fields are absent. */
export interface ColorTags {
  pixelFormat: string;
  /** Width of the source, not of a rendition: all renditions get the same colors. */
  width: number;
  height: number;
  range: VideoRange;
  primaries?: string;
  transfer?: string;
  matrix?: string;
  /** `tv` or `pc`. */
  levels?: string;
}

/** Color description that is written into every rendition of one source. Levels are always limited. */
export interface OutputColor {
  primaries: string;
  transfer: string;
  matrix: string;
}

/** Values that zscale accepts (ITU-T H.273, tables 2 and 4); it fails on all others. */
const PRIMARIES = [
  ...['bt709', 'bt470m', 'bt470bg', 'smpte170m', 'smpte240m', 'film', 'bt2020', 'smpte428', 'smpte431'],
  ...['smpte432', 'jedec-p22', 'ebu3213'],
];
const MATRICES = [
  ...['bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'ycgco', 'bt2020nc', 'chroma-derived-nc'],
  'ictcp',
];
const TRANSFERS = [
  ...['bt709', 'bt470m', 'bt470bg', 'smpte170m', 'smpte240m', 'linear', 'log100', 'log316', 'iec61966-2-4'],
  ...['bt1361e', 'iec61966-2-1', 'bt2020-10', 'bt2020-12'],
];
/** Matrices that every player reads. */
const COMMON_MATRICES = ['bt709', 'smpte170m', 'bt470bg', 'bt2020nc'];
/** Matrices that swscale converts from. */
const CONVERTIBLE_MATRICES = ['fcc', 'smpte240m'];
/** Names that `scale` has for matrices. */
const SCALE_MATRICES: Readonly<Record<string, string>> = {
  ...{ bt709: 'bt709', smpte170m: 'smpte170m', bt470bg: 'bt470', bt2020nc: 'bt2020' },
};
/** Matrices without luma and chroma, or unknown ones. */
const NO_MATRICES = ['gbr', 'unknown', 'reserved'];

const BT709: OutputColor = { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709' };
const BT601: OutputColor = { primaries: 'smpte170m', transfer: 'smpte170m', matrix: 'smpte170m' };
const BT2020: Omit<OutputColor, 'transfer'> = { primaries: 'bt2020', matrix: 'bt2020nc' };
const HDR_TRANSFERS = { PQ: 'smpte2084', HLG: 'arib-std-b67' };

/** Color description of tone-mapped output. */
export const TONE_MAPPED = BT709;

/** Largest frame for which players assume BT.601 when the matrix is unspecified. */
const SD = { long: 1024, short: 576 };

const RGB = /^(?:0?(?:rgb|bgr)|argb|abgr|gbr|x2rgb|x2bgr|pal8|mono[bw])/;

/**
 * Decides the color description of all renditions of a source. Specified values are preserved; unspecified
 * ones, and the matrix of RGB, follow from the size of the source.
 */
export function outputColor(source: ColorTags): OutputColor {
  const { range, primaries = '', transfer = '', matrix = '' } = source;
  if (range !== 'SDR') {
    return {
      primaries: PRIMARIES.includes(primaries) ? primaries : BT2020.primaries,
      transfer: HDR_TRANSFERS[range],
      matrix: MATRICES.includes(matrix) ? matrix : BT2020.matrix,
    };
  }
  const guess = guessOf(source);
  return {
    primaries: PRIMARIES.includes(primaries) ? primaries : guess.primaries,
    transfer: TRANSFERS.includes(transfer) ? transfer : guess.transfer,
    matrix: CONVERTIBLE_MATRICES.includes(matrix) ? BT709.matrix : guess.matrix,
  };
}

function guessOf({ width, height, matrix = '' }: ColorTags): OutputColor {
  const isKnown = matrix !== '' && !NO_MATRICES.includes(matrix);
  const isSd = isKnown
    ? ['smpte170m', 'bt470bg'].includes(matrix)
    : Math.max(width, height) <= SD.long && Math.min(width, height) <= SD.short;
  const guess = isSd ? BT601 : BT709;
  return isKnown ? { ...guess, matrix } : guess;
}

/**
 * Reports whether the video has a matrix that is neither common nor converted, so that players may show wrong
 * colors.
 */
export function hasRareMatrix({ range, pixelFormat, matrix = '' }: ColorTags): boolean {
  if (range !== 'SDR' || RGB.test(pixelFormat)) return false;
  return ![...COMMON_MATRICES, ...CONVERTIBLE_MATRICES, ...NO_MATRICES, ''].includes(matrix);
}

/** Reports whether a file specifies everything that `outputColor` decides. */
export function isTagged({ primaries = '', transfer = '', matrix = '' }: ColorTags): boolean {
  return [primaries, transfer, matrix].every((tag) => tag !== '' && tag !== 'unknown' && tag !== 'reserved');
}

/**
 * Returns the options of `scale` that convert samples to the result of `outputColor`; none when they match
 * already.
 */
export function conversionOptions(source: ColorTags): string[] {
  const { pixelFormat, levels, matrix = '', range } = source;
  const isRgb = RGB.test(pixelFormat);
  const isFull = isRgb || levels === 'pc' || pixelFormat.startsWith('yuvj');
  const isOther = isRgb || (range === 'SDR' && CONVERTIBLE_MATRICES.includes(matrix));
  return [
    ...(isOther ? [`out_color_matrix=${SCALE_MATRICES[outputColor(source).matrix] ?? 'bt709'}`] : []),
    ...(isFull || isOther ? ['out_range=tv'] : []),
  ];
}

/** Options of `scale` for still images: JPEG and WebP always use BT.601 and cannot specify another matrix. */
export const STILL_COLORS = {
  jpeg: 'out_color_matrix=bt601:out_range=pc',
  webp: 'out_color_matrix=bt601:out_range=tv',
};

/** Planar formats without alpha that conversions may end in: ffmpeg takes the one that loses least. */
export const CONVERTED_FORMATS =
  'format=yuv420p|yuv422p|yuv444p|yuv420p10le|yuv422p10le|yuv444p10le|yuv420p12le|yuv422p12le|yuv444p12le';

/** Filter that describes frames so that encoders write it. */
export function describeFilter({ primaries, transfer, matrix }: OutputColor): string {
  return `setparams=range=tv:color_primaries=${primaries}:color_trc=${transfer}:colorspace=${matrix}`;
}

/** Numbers of ITU-T H.273 for bitstream filters. */
const CODES: Readonly<Record<keyof OutputColor, Readonly<Record<string, number>>>> = {
  primaries: {
    ...{ bt709: 1, bt470m: 4, bt470bg: 5, smpte170m: 6, smpte240m: 7, film: 8, bt2020: 9, smpte428: 10 },
    ...{ smpte431: 11, smpte432: 12, 'jedec-p22': 22, ebu3213: 22 },
  },
  transfer: {
    ...{ bt709: 1, bt470m: 4, bt470bg: 5, smpte170m: 6, smpte240m: 7, linear: 8, log100: 9, log316: 10 },
    ...{ 'iec61966-2-4': 11, bt1361e: 12, 'iec61966-2-1': 13, 'bt2020-10': 14, 'bt2020-12': 15 },
  },
  matrix: { bt709: 1, fcc: 4, bt470bg: 5, smpte170m: 6, smpte240m: 7, ycgco: 8, bt2020nc: 9 },
};

/** Returns the names of a color description; fields are absent where a number has no name here. */
export function colorNames(codes: Readonly<Record<keyof OutputColor, number>>): Partial<OutputColor> {
  const nameOf = (field: keyof OutputColor) =>
    Object.entries(CODES[field]).find(([, code]) => code === codes[field])?.[0];
  const [primaries, transfer, matrix] = [nameOf('primaries'), nameOf('transfer'), nameOf('matrix')];
  return {
    ...(primaries === undefined ? {} : { primaries }),
    ...(transfer === undefined ? {} : { transfer }),
    ...(matrix === undefined ? {} : { matrix }),
  };
}

/** Bitstream filter that writes the description into H.264 that is copied. */
export function describeCopy({ primaries, transfer, matrix }: OutputColor): string {
  const fields = [
    `colour_primaries=${CODES.primaries[primaries] ?? 2}`,
    `transfer_characteristics=${CODES.transfer[transfer] ?? 2}`,
    `matrix_coefficients=${CODES.matrix[matrix] ?? 2}`,
  ];
  return `h264_metadata=video_full_range_flag=0:${fields.join(':')}`;
}
