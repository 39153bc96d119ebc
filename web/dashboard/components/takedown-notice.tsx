import { Alert, Text } from '@mantine/core';
import { WarningIcon } from './icons.tsx';

interface Props {
  takedown: { reason: string } | null;
  title: string;
  /** Consequences of the takedown and the available remedy. */
  text: string;
}

/** Shows the operator's statement on content that was taken down; renders nothing for other content. */
export function TakedownNotice({ takedown, title, text }: Props) {
  if (takedown === null) return null;
  return (
    <Alert color="red" icon={<WarningIcon />} title={title}>
      <Text size="sm" className="breaks">
        {takedown.reason}
      </Text>
      <Text size="sm">{text}</Text>
    </Alert>
  );
}
