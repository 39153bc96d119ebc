import { Alert, Badge, Group, List, Loader, Select, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { currentLocale } from '../../app/i18n.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton, EditorsOnly } from '../../components/change-button.tsx';
import { WarningIcon } from '../../components/icons.tsx';
import { Panel } from '../../components/panel.tsx';
import { refreshVideo } from './refresh.ts';

type Props = { video: Shape<'Video'> };
type AutoCaptions = Shape<'AutoCaptions'>;

const POLL_MS = 2000;

/** Languages that speech recognition supports; other tags can be used through the API. */
const SPOKEN = [
  ...[
    'ar',
    'bg',
    'bn',
    'ca',
    'cs',
    'da',
    'de',
    'el',
    'en',
    'es',
    'et',
    'fa',
    'fi',
    'fr',
    'he',
    'hi',
    'hr',
    'hu',
  ],
  ...[
    'id',
    'it',
    'ja',
    'ko',
    'lt',
    'lv',
    'ms',
    'nl',
    'no',
    'pl',
    'pt',
    'ro',
    'ru',
    'sk',
    'sl',
    'sr',
    'sv',
    'sw',
  ],
  ...['ta', 'th', 'tl', 'tr', 'uk', 'ur', 'vi', 'zh'],
];

/** The engine is to find out. */
const ANY = 'any';

const byLabel = (a: { label: string }, b: { label: string }) => a.label.localeCompare(b.label);

function isUnderWay({ status }: AutoCaptions): boolean {
  return status === 'QUEUED' || status === 'PROCESSING';
}

/** Lists the captions of a video, and the progress of automatic ones. */
export function CaptionsPanel({ video }: Props) {
  const { t } = useTranslation('videos');
  const { id, captions, status } = video;
  const query = $api.useQuery(
    'get',
    '/videos/{id}/captions/auto',
    { params: { path: { id } } },
    {
      enabled: status === 'READY',
      refetchInterval: ({ state: { data } }) =>
        data !== undefined && isUnderWay(data.data) ? POLL_MS : false,
    },
  );
  const auto = query.data?.data;
  const isMoving = auto !== undefined && isUnderWay(auto);
  useEffect(() => {
    if (!isMoving) return;
    // The new captions are part of the video's data.
    return () => void refreshVideo();
  }, [isMoving]);
  const isOffered = auto?.isAvailable === true && !isMoving;
  if (captions.length === 0 && !isOffered && (auto === undefined || auto.status === null)) return null;
  return (
    <Panel title={t('captions.title')}>
      <CaptionList captions={captions} />
      {auto !== undefined && <AutoState auto={auto} />}
      {isOffered && (
        <EditorsOnly>
          <MakeCaptions id={id} />
        </EditorsOnly>
      )}
    </Panel>
  );
}

function CaptionList({ captions }: Pick<Shape<'Video'>, 'captions'>) {
  const { t } = useTranslation('videos');
  if (captions.length === 0) return <Text c="dimmed">{t('captions.none')}</Text>;
  return (
    <List aria-label={t('captions.title')}>
      {captions.map(({ language, label, isAuto }) => (
        <List.Item key={language} className="breaks">
          <bdi>{label}</bdi> {isAuto && <Badge variant="light">{t('captions.auto')}</Badge>}
        </List.Item>
      ))}
    </List>
  );
}

/** Shows the progress of the last requested automatic captions. */
function AutoState({ auto }: { auto: AutoCaptions }) {
  const { t } = useTranslation('videos');
  const { status, language, error } = auto;
  if (status === null) return null;
  if (status === 'FAILED') {
    return (
      <Alert color="red" icon={<WarningIcon />} title={t('captions.FAILED')}>
        <Text size="sm" className="breaks" lang="en">
          {error}
        </Text>
      </Alert>
    );
  }
  return (
    <Group role="status" gap="xs">
      {isUnderWay(auto) && <Loader size="sm" aria-hidden />}
      <Text>{t(`captions.${status}`, { language: language === null ? '' : nameOf(language) })}</Text>
    </Group>
  );
}

function MakeCaptions({ id }: { id: string }) {
  const { t } = useTranslation('videos');
  const [language, setLanguage] = useState<string>(ANY);
  const make = $api.useMutation('post', '/videos/{id}/captions/auto', {
    onSuccess: () => queries.invalidateQueries({ queryKey: ['get', '/videos/{id}/captions/auto'] }),
  });
  const names = SPOKEN.map((value) => ({ value, label: nameOf(value) }));
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {t('captions.means')}
      </Text>
      <Group align="flex-end">
        <Select
          label={t('captions.spoken')}
          data={[{ value: ANY, label: t('captions.anyLanguage') }, ...names.toSorted(byLabel)]}
          value={language}
          onChange={(chosen) => setLanguage(chosen ?? ANY)}
          allowDeselect={false}
          searchable
        />
        <EditButton
          loading={make.isPending}
          onClick={() =>
            make.mutate({ params: { path: { id } }, body: language === ANY ? {} : { language } })
          }
        >
          {t('captions.make')}
        </EditButton>
      </Group>
    </Stack>
  );
}

/** Returns the name of a language in the UI language. */
function nameOf(language: string): string {
  return new Intl.DisplayNames([currentLocale()], { type: 'language' }).of(language) ?? language;
}
