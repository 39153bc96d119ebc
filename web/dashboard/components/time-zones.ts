const ZONES = Intl.supportedValuesOf('timeZone');

/** The names of all zones to choose from; the chosen one is among them, even one that the browser does not list. */
export function zonesWith(chosen: string): string[] {
  return ZONES.includes(chosen) ? ZONES : [chosen, ...ZONES];
}
