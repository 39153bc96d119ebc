import type { Hdr10, SourceInfo } from '../contract/index.ts';

/** Side data as ffprobe reports it for a stream or a frame; fractions are text. */
export type SideData = Readonly<Record<string, unknown>>;

const MASTERING = 'Mastering display metadata';
const LIGHT = 'Content light level metadata';
/** Units of ITU-T H.265 D.3.28: chromaticity in 0.00002, luminance in 0.0001 cd/m²; D.3.35: in cd/m². */
const CHROMATICITY = 50_000;
const LUMINANCE = 10_000;
const MOST_CHROMATICITY = 50_000;
const MOST_LUMINANCE = 10_000 * LUMINANCE;
const MOST_LIGHT = 65_535;

/** Parses the SMPTE ST 2086 and CTA-861.3 metadata of a source; null when missing or invalid. */
export function readHdr10(list: readonly SideData[]): Hdr10 | null {
  const mastering = masteringOf(list.find((data) => data.side_data_type === MASTERING) ?? {});
  const light = lightOf(list.find((data) => data.side_data_type === LIGHT) ?? {});
  return mastering === null && light === null ? null : { mastering, light };
}

function masteringOf(data: SideData): Hdr10['mastering'] {
  const points = ['red', 'green', 'blue', 'white_point'].flatMap((name) =>
    ['x', 'y'].map((axis) => whole(data[`${name}_${axis}`], CHROMATICITY, MOST_CHROMATICITY)),
  );
  const [rx, ry, gx, gy, bx, by, wx, wy] = points;
  const max = whole(data.max_luminance, LUMINANCE, MOST_LUMINANCE);
  const min = whole(data.min_luminance, LUMINANCE, MOST_LUMINANCE);
  if (rx == null || ry == null || gx == null || gy == null || bx == null || by == null) return null;
  if (wx == null || wy == null || max === null || min === null || max <= min) return null;
  return { red: [rx, ry], green: [gx, gy], blue: [bx, by], white: [wx, wy], max, min };
}

function lightOf(data: SideData): Hdr10['light'] {
  const [maxContent, maxAverage] = [light(data.max_content), light(data.max_average)];
  if (maxContent === null || maxAverage === null || maxContent === 0) return null;
  return { maxContent, maxAverage };
}

const light = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_LIGHT ? value : null;

/** Converts a fraction to an integer in the given unit; null when it is out of range. */
function whole(value: unknown, unit: number, most: number): number | null {
  const [, over, under] = /^(\d{1,10})\/(\d{1,10})$/.exec(typeof value === 'string' ? value : '') ?? [];
  if (over === undefined || Number(under) === 0) return null;
  const units = Math.round((Number(over) / Number(under)) * unit);
  return units <= most ? units : null;
}

/** Returns the x265 parameters, in integer units. */
export function hevcHdr10({ video }: SourceInfo): string[] {
  const { mastering, light: level } = video.hdr10 ?? { mastering: null, light: null };
  const display = mastering === null ? [] : [`master-display=${displayOf(mastering, String, String)}`];
  return [...display, ...(level === null ? [] : [`max-cll=${level.maxContent},${level.maxAverage}`])];
}

/** Returns the SVT-AV1 parameters, as decimals. */
export function av1Hdr10({ video }: SourceInfo): string[] {
  const { mastering, light: level } = video.hdr10 ?? { mastering: null, light: null };
  const point = (units: number) => (units / CHROMATICITY).toFixed(5);
  const candela = (units: number) => (units / LUMINANCE).toFixed(4);
  const display = mastering === null ? [] : [`mastering-display=${displayOf(mastering, point, candela)}`];
  return [...display, ...(level === null ? [] : [`content-light=${level.maxContent},${level.maxAverage}`])];
}

function displayOf(
  { red, green, blue, white, max, min }: NonNullable<Hdr10['mastering']>,
  point: (units: number) => string,
  candela: (units: number) => string,
): string {
  const places = { G: green, B: blue, R: red, WP: white };
  const chromaticities = Object.entries(places).map(([name, at]) => `${name}(${at.map(point).join()})`);
  return `${chromaticities.join('')}L(${candela(max)},${candela(min)})`;
}
