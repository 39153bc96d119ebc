import { Group, NativeSelect, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { useFormat } from '../../components/format.ts';
import { TextLink } from '../../components/links.tsx';
import { instantOf } from '../../components/local-time.ts';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';

type Cohort = Shape<'Cohort'>;

const CHOICES = 100;

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/booking/cohorts/{cohortId}'] });

/** Videos that members may watch, each from its release on. */
export function CohortVideos({ cohort, isOver }: { cohort: Cohort; isOver: boolean }) {
  const { t } = useTranslation('booking');
  return (
    <Panel title={t('video.all')}>
      {cohort.videos.length === 0 ? (
        <Text>{t('video.empty')}</Text>
      ) : (
        <Table aria-label={t('video.all')} verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('video.one')}</Table.Th>
              <Table.Th>{t('video.release')}</Table.Th>
              <Table.Th>
                <span className="hidden-words">{t('remove')}</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {cohort.videos.map((video) => (
              <VideoRow key={video.id} cohortId={cohort.id} video={video} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {!isOver && <AddVideo cohort={cohort} />}
    </Panel>
  );
}

function VideoRow({ cohortId, video }: { cohortId: string; video: Shape<'CohortVideo'> }) {
  const { t } = useTranslation('booking');
  const { dateTime } = useFormat();
  const { data } = $api.useQuery('get', '/videos/{id}', { params: { path: { id: video.videoId } } });
  const remove = $api.useMutation('delete', '/booking/cohorts/{cohortId}/videos/{cvId}', {
    onSuccess: refresh,
  });
  const title = data?.data.title ?? video.videoId;
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink to="/videos/$id" params={{ id: video.videoId }} className="breaks">
          <bdi>{title}</bdi>
        </TextLink>
      </Table.Td>
      <Table.Td>{video.releaseAt === null ? t('video.atOnce') : dateTime(video.releaseAt)}</Table.Td>
      <Table.Td>
        <ConfirmAction
          label={t('remove')}
          title={t('video.removeTitle', { title })}
          text={t('video.removeText')}
          isPending={remove.isPending}
          onConfirm={() => remove.mutateAsync({ params: { path: { cohortId, cvId: video.id } } })}
        />
      </Table.Td>
    </Table.Tr>
  );
}

function AddVideo({ cohort }: { cohort: Cohort }) {
  const { t } = useTranslation('booking');
  const form = useForm({ initialValues: { videoId: '', releaseAt: '' } });
  const { data } = $api.useQuery('get', '/videos', { params: { query: { limit: CHOICES } } });
  const add = $api.useMutation('post', '/booking/cohorts/{cohortId}/videos', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: () => {
      form.reset();
      return refresh();
    },
  });
  const there = new Set(cohort.videos.map(({ videoId }) => videoId));
  const choices = (data?.data ?? []).filter(({ id }) => !there.has(id));
  if (choices.length === 0) {
    return <TextLink to="/videos">{t('video.none')}</TextLink>;
  }
  return (
    <form
      onSubmit={form.onSubmit(({ videoId, releaseAt }) =>
        add.mutate({
          params: { path: { cohortId: cohort.id } },
          body: { videoId, releaseAt: instantOf(releaseAt) },
        }),
      )}
    >
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <NativeSelect
            {...form.getInputProps('videoId')}
            size="md"
            label={t('video.one')}
            description={t('video.newest', { count: CHOICES })}
            required
            data={[
              { value: '', label: t('video.choose') },
              ...choices.map(({ id, title }) => ({ value: id, label: title })),
            ]}
          />
          <TextInput
            {...form.getInputProps('releaseAt')}
            type="datetime-local"
            label={t('video.release')}
            description={t('video.releaseHint')}
          />
        </SimpleGrid>
        <TimeZoneNote />
        <Group justify="flex-end">
          <EditButton type="submit" loading={add.isPending}>
            {t('video.add')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}
