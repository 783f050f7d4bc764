package start;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.helpers.BetaMessageThread;
import com.anthropic.models.beta.messages.BetaMemoryTool20250818;
import com.anthropic.models.beta.messages.BetaMessage;
import com.anthropic.models.beta.messages.BetaMessageParam;
import com.anthropic.models.beta.messages.ThreadCreateParams;
import dev.memdir.MemdirException;
import dev.memdir.MemdirHandler;
import dev.memdir.Memory;
import java.nio.file.Path;
import java.util.Scanner;

public class Agent {
    public static void main(String[] arguments) throws MemdirException {
        // Reads the key from ANTHROPIC_API_KEY.
        AnthropicClient client = AnthropicOkHttpClient.fromEnv();
        ThreadCreateParams conversation =
                ThreadCreateParams.builder()
                        .model("claude-sonnet-5-5")
                        .maxTokens(2048)
                        .addTool(BetaMemoryTool20250818.builder().build())
                        .build();
        try (Memory memory = new Memory(Path.of("memory"))) {
            MemdirHandler handler = new MemdirHandler(memory);
            BetaMessageThread thread = client.beta().messages().thread(conversation);
            Scanner questions = new Scanner(System.in);
            while (questions.hasNextLine()) {
                thread.append(BetaMessageParam.ofUser(questions.nextLine()));
                for (BetaMessage message : handler.messages(thread.toolRunner(tools -> tools.betaMemoryToolHandler(handler)))) {
                    message.content().forEach(block -> block.text().ifPresent(text -> System.out.println(text.text())));
                }
            }
        }
    }
}
