import { startChat } from '../chat/panel.ts';
import '../player/element.ts';

startChat();
