import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const MARQUEE: MantineColorsTuple = [
  '#fff8e6',
  '#ffeec6',
  '#fddc8c',
  '#fac95f',
  '#f6b73c',
  '#dd9a1e',
  '#c37c0e',
  '#b06208',
  '#9a4b06',
  '#7a3a04',
];

/** Shades from text to background, in the warm tone of the public pages. */
const DARK: MantineColorsTuple = [
  '#f5f1ec',
  '#d6cec6',
  '#b5aca3',
  '#857b73',
  '#4a423c',
  '#3a332e',
  '#262220',
  '#161311',
  '#100e0d',
  '#0a0908',
];

/** Colors of badges, buttons and alerts whose text must be readable in both color schemes. */
const TINTS = ['marquee', 'red', 'green', 'blue', 'yellow', 'orange', 'teal', 'grape', 'gray'];

export const theme = createTheme({
  primaryColor: 'marquee',
  colors: { marquee: MARQUEE, dark: DARK },
  // The library's default shades do not give white button text the contrast that WCAG AA requires.
  primaryShade: 8,
  autoContrast: true,
  // Luminance at which black and white text are equally readable.
  luminanceThreshold: 0.179,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  respectReducedMotion: true,
  components: {
    // Color must not be the only difference between a link and the surrounding text.
    Anchor: { defaultProps: { underline: 'always' } },
    Button: { defaultProps: { size: 'md' } },
    ActionIcon: { defaultProps: { size: 44, variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: { size: 'md' } },
    PasswordInput: { defaultProps: { size: 'md' } },
    Textarea: { defaultProps: { size: 'md' } },
    Select: { defaultProps: { size: 'md' } },
    Modal: { defaultProps: { centered: true } },
  },
});

/** Darker text on light tints, and readable dimmed text. */
export const variables: CSSVariablesResolver = () => {
  const tints = (words: (color: string) => string) =>
    Object.fromEntries(
      TINTS.map((name) => [`--mantine-color-${name}-light-color`, words(`--mantine-color-${name}`)]),
    );
  return {
    variables: {},
    light: {
      // Even the darkest shade of green, yellow and orange is too light for small text on a tint.
      ...tints((color) => `color-mix(in srgb, var(${color}-9) 65%, black)`),
      '--marquee-soft-ground': '#f0eae2',
      '--mantine-color-body': '#fffdfa',
      '--mantine-color-text': '#1c1917',
      '--mantine-color-dimmed': '#5c544d',
      '--mantine-color-placeholder': '#6d645c',
      '--mantine-color-error': 'var(--mantine-color-red-9)',
      '--mantine-color-anchor': '#8a4305',
    },
    dark: {
      ...tints((color) => `var(${color}-2)`),
      '--marquee-soft-ground': '#262220',
      '--mantine-color-dimmed': '#b5aca3',
      '--mantine-color-placeholder': '#a0968d',
      '--mantine-color-error': 'var(--mantine-color-red-4)',
      '--mantine-color-anchor': '#f6b73c',
    },
  };
};
