import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, queries } from '../../app/api.ts';
import { errorMessage } from '../../app/error-message.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';

type Video = Shape<'Video'>;
type Act = (path: { id: string }) => Promise<unknown>;

interface Failure {
  id: string;
  title: string;
  words: string;
}

interface Props {
  videos: Video[];
  onSelect: (selected: ReadonlySet<string>) => void;
}

const publish: Act = (path) => api.POST('/videos/{id}/publish', { params: { path }, body: {} });
const unpublish: Act = (path) => api.POST('/videos/{id}/unpublish', { params: { path } });
const remove: Act = (path) => api.DELETE('/videos/{id}', { params: { path } });

/**
 * Applies an action to all selected videos. Videos for which it failed stay selected and are listed until
 * dismissed.
 */
export function BulkBar({ videos, onSelect }: Props) {
  const { t } = useTranslation('videos');
  const { run, isRunning, failures, dismiss } = useBulk(videos, onSelect);
  const count = videos.length;
  return (
    <Stack gap="xs">
      <Group mih={44}>
        <Text role="status" fw={500}>
          {t('bulk.count', { count })}
        </Text>
        {count > 0 && (
          <>
            <Button
              variant="default"
              loading={isRunning}
              onClick={() => void run(publish, t('bulk.published'))}
            >
              {t('bulk.publish')}
            </Button>
            <Button
              variant="default"
              loading={isRunning}
              onClick={() => void run(unpublish, t('bulk.hidden'))}
            >
              {t('bulk.hide')}
            </Button>
            <ConfirmAction
              label={t('bulk.delete')}
              title={t('bulk.deleteTitle', { count })}
              text={t('delete.text')}
              isPending={isRunning}
              onConfirm={() => run(remove, t('bulk.deleted'))}
            />
          </>
        )}
      </Group>
      {failures.length > 0 && (
        <Alert
          color="red"
          role="alert"
          title={t('bulk.failed')}
          withCloseButton
          closeButtonLabel={t('bulk.dismiss')}
          onClose={dismiss}
        >
          <List>
            {failures.map(({ id, title, words }) => (
              <List.Item key={id}>
                <bdi>{title}</bdi>: {words}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}

function useBulk(videos: Video[], onSelect: Props['onSelect']) {
  const [isRunning, setRunning] = useState(false);
  const [failures, setFailures] = useState<Failure[]>([]);
  /** Runs the calls one after another to stay within the rate limit. */
  const run = async (act: Act, done: string) => {
    setRunning(true);
    const failed: Failure[] = [];
    for (const { id, title } of videos) {
      await act({ id }).catch((error: unknown) => failed.push({ id, title, words: errorMessage(error) }));
    }
    setFailures(failed);
    setRunning(false);
    onSelect(new Set(failed.map(({ id }) => id)));
    if (failed.length === 0) showSuccess(done);
    void queries.invalidateQueries({ queryKey: ['get', '/upload'] });
    await queries.invalidateQueries({ queryKey: ['get', '/videos'] });
  };
  return { run, isRunning, failures, dismiss: () => setFailures([]) };
}
