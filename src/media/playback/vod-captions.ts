import { baseLanguageTag, captionPurpose, uniqueLabel } from '../../kernel/languages.ts';
import type { CaptionFile } from '../contract/index.ts';
import { quotable } from './vod-audio.ts';

/** Apple's characteristics for captions that also describe sounds and speakers; supported by hls.js. */
const SDH =
  'CHARACTERISTICS="public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound"';

/** The `EXT-X-MEDIA` of captions (RFC 8216 4.3.4.1): one of a kind is chosen by the viewer's settings. */
export function renderCaptionGroup(captions: readonly CaptionFile[], uriSuffix: string): string[] {
  const names = new Set<string>();
  const chosen = captions.findIndex(({ isDefault }) => isDefault);
  // One per kind is selected: the default caption within its own kind, and the first of any other.
  const kinds = captions.map(({ language }) => `${baseLanguageTag(language)} ${captionPurpose(language)}`);
  const selected = kinds.map((kind) => (kind === kinds[chosen] ? chosen : kinds.indexOf(kind)));
  return captions.map(({ file, language, label }, index) => {
    const purpose = captionPurpose(language);
    const plain = baseLanguageTag(language);
    const attributes = [
      ...['TYPE=SUBTITLES', 'GROUP-ID="captions"', `NAME="${uniqueLabel(quotable(label), names)}"`],
      ...(plain === 'und' ? [] : [`LANGUAGE="${plain}"`]),
      ...[
        `DEFAULT=${yes(index === chosen)}`,
        `AUTOSELECT=${yes(index === selected[index])}`,
        `FORCED=${yes(purpose === 'FORCED')}`,
      ],
      ...(purpose === 'SDH' ? [SDH] : []),
      `URI="captions/${file}.m3u8${uriSuffix}"`,
    ];
    return `#EXT-X-MEDIA:${attributes.join(',')}`;
  });
}

function yes(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}
