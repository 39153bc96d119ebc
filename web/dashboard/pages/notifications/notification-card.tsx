import { Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { chooseMode } from '../../app/mode.ts';
import type { Shape } from '../../app/shape.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { TextLink } from '../../components/links.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { refreshNotifications } from './refresh.ts';
import { subjectOf } from './subject.ts';

const COLORS = { INFO: 'blue', WARNING: 'orange', CRITICAL: 'red' };

interface Props {
  notification: Shape<'Notification'>;
  /** Called when it was read or deleted by its own button. */
  onDone: () => void;
}

export function NotificationCard({ notification, onDone }: Props) {
  const { t } = useTranslation('notifications');
  const { id, title, body, severity, readAt, createdAt } = notification;
  const heading = useId();
  return (
    <Paper withBorder p="md" component="article" aria-labelledby={heading}>
      <Stack gap="xs">
        <Group gap="xs">
          <Badge color={COLORS[severity]} variant="light">
            {t(`severity.${severity}`)}
          </Badge>
          {readAt === null && <Badge variant="filled">{t('new')}</Badge>}
          <Text size="sm" c="dimmed">
            <RelativeTime at={createdAt} />
          </Text>
        </Group>
        {/* Texts of the API are always English. */}
        <Title order={2} size="h5" fw={readAt === null ? 700 : 500} id={heading} lang="en" dir="auto">
          {title}
        </Title>
        {body !== null && (
          <Text size="sm" className="breaks" lang="en" dir="auto">
            {body}
          </Text>
        )}
        <Group justify="space-between">
          <SubjectLink notification={notification} />
          <Actions id={id} isUnread={readAt === null} onDone={onDone} />
        </Group>
      </Stack>
    </Paper>
  );
}

/** Links to the subject of a notification in its workspace, and marks the notification as read on click. */
function SubjectLink({ notification }: { notification: Shape<'Notification'> }) {
  const { t } = useTranslation('notifications');
  const read = $api.useMutation('post', '/notifications/{id}/read', { onSuccess: refreshNotifications });
  const subject = subjectOf(notification);
  if (subject === null) {
    return (
      <Text size="sm" c="dimmed" dir="ltr" className="breaks">
        {notification.resource?.id}
      </Text>
    );
  }
  const open = () => {
    chooseMode(subject.mode);
    if (notification.readAt === null) read.mutate({ params: { path: { id: notification.id } } });
  };
  return (
    <TextLink to={subject.to} onClick={open}>
      {t(`go.${subject.kind}`)}
    </TextLink>
  );
}

function Actions({ id, isUnread, onDone }: { id: string; isUnread: boolean; onDone: () => void }) {
  const { t } = useTranslation('notifications');
  const onSuccess = async () => {
    await refreshNotifications();
    onDone();
  };
  const read = $api.useMutation('post', '/notifications/{id}/read', { onSuccess });
  const remove = $api.useMutation('delete', '/notifications/{id}', { onSuccess });
  const params = { path: { id } };
  return (
    <Group gap="xs">
      {isUnread && (
        <Button variant="default" loading={read.isPending} onClick={() => read.mutate({ params })}>
          {t('read')}
        </Button>
      )}
      <ConfirmAction
        label={t('delete')}
        title={t('deleteTitle')}
        text={t('deleteText')}
        isPending={remove.isPending}
        onConfirm={() => remove.mutateAsync({ params })}
      />
    </Group>
  );
}
