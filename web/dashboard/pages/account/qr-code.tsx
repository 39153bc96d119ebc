import qrcode from 'qrcode-generator';

const QUIET = 4;

/** Renders a QR code dark on light in both color schemes, as cameras require. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const modules = code.getModuleCount();
  const cells = Array.from({ length: modules * modules }, (_, cell) => [
    Math.floor(cell / modules),
    cell % modules,
  ]);
  const d = cells
    .filter(([row = 0, column = 0]) => code.isDark(row, column))
    .map(([row = 0, column = 0]) => `M${column + QUIET} ${row + QUIET}h1v1h-1z`)
    .join('');
  const size = modules + 2 * QUIET;
  return (
    <svg viewBox={`0 0 ${size} ${size}`} width="200" height="200" role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={d} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
