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

/** From text to ground, warm as the public pages are. */
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

/** The colours of badges, buttons and alerts whose words must be readable in both schemes. */
const TINTS = ['marquee', 'red', 'green', 'blue', 'yellow', 'orange', 'teal', 'grape', 'gray'];

export const theme = createTheme({
  primaryColor: 'marquee',
  colors: { marquee: MARQUEE, dark: DARK },
  // With the library's own shades white words on buttons do not reach the contrast of WCAG AA.
  primaryShade: 8,
  autoContrast: true,
  // Where black and white words are equally readable.
  luminanceThreshold: 0.179,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  respectReducedMotion: true,
  components: {
    // Colour alone does not tell a link from the words around it.
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

/** Darker words on light tints, and dimmed words that are still words. */
export const variables: CSSVariablesResolver = () => {
  const tints = (words: (color: string) => string) =>
    Object.fromEntries(
      TINTS.map((name) => [`--mantine-color-${name}-light-color`, words(`--mantine-color-${name}`)]),
    );
  return {
    variables: {},
    light: {
      // Even the darkest shade of green, yellow and orange is too light for small words on a tint.
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
