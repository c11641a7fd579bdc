package privyseal;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;

/** Calls the client for a test: one call for each line of standard input, as JSON. In its package, to use its JSON. */
final class Driver {
    public static void main(String[] arguments) throws Exception {
        var client = new PrivySeal(new PrivySeal.Options(
                arguments[0], Path.of(arguments[1]), arguments[2].isEmpty() ? null : Path.of(arguments[2]),
                seconds(arguments[3]), seconds(arguments[4]), Integer.parseInt(arguments[5])));
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (var line = input.readLine(); line != null; line = input.readLine()) {
            var call = PrivySeal.Json.readObject(line);
            var calls = new ArrayList<Callable<Object>>();
            for (long caller = 0; caller < (Long) call.get("callers"); caller++) {
                calls.add(() -> result(client, call));
            }
            var threads = Executors.newFixedThreadPool(calls.size());
            var results = new ArrayList<>();
            for (var result : threads.invokeAll(calls)) {
                results.add(result.get());
            }
            threads.shutdown();
            System.out.println(PrivySeal.Json.write(results));
        }
    }

    private static Duration seconds(String text) {
        return Duration.ofMillis((long) (Double.parseDouble(text) * 1000));
    }

    @SuppressWarnings("unchecked")
    private static Object result(PrivySeal client, Map<String, Object> call) {
        try {
            var fields = (Map<String, Object>) call.get("fields");
            return Map.of("answer", switch ((String) call.get("call")) {
                case "offer" -> members(client.offer((String) call.get("bundleId"), (String) call.get("feature"), fields));
                case "appToken" -> members(client.appToken((String) call.get("bundleId")));
                default -> members(client.serviceToken((String) call.get("name"), fields));
            });
        } catch (PrivySeal.Problem problem) {
            return Map.of(
                    "error", "problem", "message", problem.getMessage(), "type", problem.type, "title", problem.title,
                    "status", problem.status, "detail", problem.detail, "field", problem.field,
                    "requestId", problem.requestId);
        } catch (PrivySeal.InvalidAnswer error) {
            return Map.of("error", "answer", "message", error.getMessage());
        } catch (PrivySeal.ConnectionError error) {
            return Map.of("error", "connection", "message", error.getMessage());
        } catch (Exception error) {
            return Map.of("error", "other", "message", error.toString());
        }
    }

    /** The members of a record that are not empty, without the JSON text. */
    private static Map<String, Object> members(Record answer) throws ReflectiveOperationException {
        var members = new HashMap<String, Object>();
        for (var component : answer.getClass().getRecordComponents()) {
            var value = component.getAccessor().invoke(answer);
            if (value != null && !value.equals(0L) && !component.getName().equals("json")) {
                members.put(component.getName(), value);
            }
        }
        return members;
    }
}
