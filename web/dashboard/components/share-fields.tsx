import { Alert, Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { embedCode, watchUrlOf } from './addresses.ts';
import { CodeLine, CopyField } from './copy-field.tsx';
import { TextOutLink } from './links.tsx';
import type { Visibility } from './visibility.tsx';

interface Links {
  watchUrl: string;
  embedUrl: string;
}

interface Props {
  title: string;
  embedUrl: string;
  visibility: Visibility;
  /** Creates links that open the content for their holders, whatever its visibility. */
  makeLinks: () => Promise<Links>;
}

/** Shows the link to share and the embed code, with a token for content that is not public. */
export function ShareFields({ title, embedUrl, visibility, makeLinks }: Props) {
  const { t } = useTranslation();
  const [made, setMade] = useState<Links | null>(null);
  const [isPending, setPending] = useState(false);
  const isOpen = visibility === 'PUBLIC' || visibility === 'UNLISTED';
  const make = () => {
    setPending(true);
    makeLinks()
      .then(setMade, () => {})
      .finally(() => setPending(false));
  };
  if (!isOpen && made === null) {
    const isSold = visibility === 'TIER' || visibility === 'PURCHASE';
    return (
      <Stack>
        {isSold && (
          <CopyField label={t('share.link')} value={watchUrlOf(embedUrl)} description={t('share.sold')} />
        )}
        <Alert color="yellow" title={t('share.closedTitle')}>
          <Stack align="flex-start">
            <Text size="sm">{isSold ? t('share.soldClosed') : t('share.closedText')}</Text>
            <Button variant="default" onClick={make} loading={isPending}>
              {t('share.make')}
            </Button>
          </Stack>
        </Alert>
      </Stack>
    );
  }
  const links = isOpen || made === null ? { watchUrl: watchUrlOf(embedUrl), embedUrl } : made;
  return (
    <Stack>
      {!isOpen && <Text size="sm">{t('share.made')}</Text>}
      <CopyField label={t('share.link')} value={links.watchUrl} />
      <TextOutLink href={links.watchUrl}>{t('share.open')}</TextOutLink>
      <CodeLine label={t('share.embed')} code={embedCode(links.embedUrl, title)} />
    </Stack>
  );
}
