//! The server for agents, asked through the client of the official SDK.

#![cfg(all(feature = "mcp", unix))]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod cases;
mod client;

use client::{arguments, in_session};
use serde_json::json;

const TOUR: &str = "examples/gpu-sharing/";
const MISTAKES: &str = "host-wasmtime/tests/cli/mistakes.yaml";

#[test]
fn tools_and_resources_are_listed_with_schemas() {
    in_session(&[], async |session| {
        let tools = session.peer.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, ["explain", "run", "validate", "fit", "what-if", "usage", "cel", "explain-code"]);
        for tool in &tools {
            assert!(tool.annotations.as_ref().unwrap().read_only_hint.unwrap(), "{}", tool.name);
            assert!(tool.input_schema["properties"]["detail"]["description"].is_string(), "{}", tool.name);
        }
        let resources = session.peer.list_all_resources().await.unwrap();
        for resource in &resources {
            let text = session.resource(&resource.uri).await.unwrap();
            assert!(text.len() > 80, "{}: {text}", resource.uri);
        }
        let code = session.resource("apportion://codes/alloc/unknown-class").await.unwrap();
        assert!(code.starts_with("alloc/unknown-class (error)"), "{code}");
        assert!(session.resource("apportion://codes/no/such").await.is_none());
        assert!(session.resource("file:///etc/hostname").await.is_none());
        assert_eq!(
            session.peer.list_all_resource_templates().await.unwrap()[0].uri_template,
            "apportion://codes/{+code}"
        );
    });
}

/// What an agent reads on its way through one question of each kind.
#[test]
fn a_conversation() {
    let mut text = String::new();
    in_session(&[TOUR], async |session| {
        for (tool, asked) in [
            ("explain", json!({ "subject": "pod/ml/huge-model" })),
            ("explain", json!({ "subject": "pod/ml/huge-model", "apply": 1 })),
            ("explain", json!({ "subject": "pod/ml/hugemodel" })),
            ("run", json!({})),
            ("fit", json!({ "claim_template": "ml/small-gpu" })),
            ("fit", json!({})),
            ("what-if", json!({ "without": ["pod/ml/notebook"] })),
            ("usage", json!({ "per": "class" })),
            ("cel", json!({ "expression": "device.driver == \"nic.example.com\"", "device": "node-a/gpu-0" })),
            ("explain-code", json!({ "code": "alloc/unknown-class" })),
            ("explain-code", json!({ "code": "alloc/unknown-clas" })),
            ("explain", json!({ "kubernetes_version": "1.12" })),
            ("explain", json!({ "pod": "ml/huge-model" })),
        ] {
            let (answer, is_error) = session.ask(tool, &asked).await;
            let error = if is_error { " (error)" } else { "" };
            text.push_str(&format!(">>> {tool} {asked}{error}\n{answer}\n"));
        }
    });
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("mcp_conversation", text);
    });
}

#[test]
fn answers_are_those_of_the_command_line() {
    in_session(&[TOUR], async |session| {
        let (json, is_error) =
            session.ask("explain", &json!({ "subject": "pod/ml/huge-model", "detail": "json" })).await;
        let printed = client::command(&["explain", TOUR, "pod/ml/huge-model", "-o", "json"]).output().unwrap();
        assert_eq!((json, is_error), (String::from_utf8(printed.stdout).unwrap(), false));
        let (full, _) = session.ask("explain", &json!({ "subject": "pod/ml/huge-model", "detail": "full" })).await;
        let (short, _) = session.ask("explain", &json!({ "subject": "pod/ml/huge-model" })).await;
        assert!(short.lines().count() < full.lines().count(), "{short}\n{full}");
        // What was asked for is in the answer, short as it is elsewhere.
        for asked in
            [json!({ "subject": "pod/ml/huge-model", "node": ["node-a"] }), json!({ "device": "node-a/gpu-0" })]
        {
            let (answer, _) = session.ask("explain", &asked).await;
            assert!(answer.contains("gpu.example.com/node-a/gpu-0"), "{answer}");
        }
    });
}

#[test]
fn manifests_of_a_call_come_on_top_and_stay_in_it() {
    in_session(&[TOUR], async |session| {
        let manifests = "apiVersion: v1\nkind: Pod\nmetadata: { name: extra, namespace: ml }\nspec:\n  nodeName: node-a\n  \
                         containers: [{ name: main, image: x }]\n";
        let (with, _) = session.ask("run", &json!({ "manifests": manifests, "detail": "full" })).await;
        assert!(with.contains("ml/extra"), "{with}");
        let (without, _) = session.ask("run", &json!({ "detail": "full" })).await;
        assert!(!without.contains("ml/extra"), "{without}");
        let (alone, _) = session.ask("run", &json!({ "manifests": manifests, "files": [] })).await;
        assert!(alone.starts_with("1 Pod: it has a node"), "{alone}");
        let (part, _) = session.ask("validate", &json!({ "files": ["examples/gpu-sharing/00-cluster.yaml"] })).await;
        assert!(part.contains("in 1 file"), "{part}");
    });
}

#[test]
fn no_file_but_those_named_at_the_start_is_read() {
    let folder = std::env::temp_dir().join(format!("apportion-mcp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(client::root().join(MISTAKES), folder.join("a.yaml")).unwrap();
    let path = folder.to_str().unwrap();
    in_session(&[path], async |session| {
        for asked in [
            json!({ "files": [MISTAKES] }),
            json!({ "files": ["/etc/hostname"] }),
            json!({ "files": [format!("{path}/../")] }),
        ] {
            let (answer, is_error) = session.ask("validate", &asked).await;
            assert!(is_error && answer.contains("was not started with a file"), "{answer}");
        }
        // Values that look like options or paths are values.
        let (answer, is_error) = session.ask("fit", &json!({ "claim": "--file=/etc/hostname" })).await;
        assert!(is_error && !answer.contains("cannot be read"), "{answer}");
        for expression in ["--from-cluster", "-f/etc/hostname"] {
            let (answer, _) = session.ask("cel", &json!({ "expression": expression })).await;
            assert!(!answer.contains("kubeconfig") && !answer.contains("cannot be read"), "{answer}");
        }
        let (answer, is_error) = session.ask("explain", &json!({ "subject": "/etc/hostname" })).await;
        assert!(is_error && answer.contains("is not KIND/NAME"), "{answer}");
        let (answer, is_error) = session.ask("explain-code", &json!({ "code": "/etc/hostname" })).await;
        assert!(is_error && answer.contains("there is no code"), "{answer}");
        std::os::unix::fs::symlink(client::root().join(MISTAKES), folder.join("b.yaml")).unwrap();
        let (answer, is_error) = session.ask("validate", &json!({})).await;
        assert!(is_error && answer.contains("leads out of"), "{answer}");
        std::fs::remove_file(folder.join("b.yaml")).unwrap();
        let (answer, is_error) = session.ask("validate", &json!({})).await;
        assert!(!is_error && answer.contains("error"), "{answer}");
    });
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn limits_are_said_and_cost_one_call() {
    in_session(&["--max-input", "3000", "--max-answer", "2000", "--max-steps", "50"], async |session| {
        let claim = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: { name: x }\n---\n";
        let wrong = claim.replace("---", "spec: { nothing: 1 }\n---").repeat(20);
        let (answer, is_error) = session.ask("run", &json!({ "manifests": claim.repeat(50) })).await;
        assert!(is_error && answer.contains("3000 are allowed (`--max-input`)"), "{answer}");
        let (answer, is_error) = session.ask("explain", &json!({ "manifests": claim, "max_steps": 51 })).await;
        assert!(is_error && answer.contains("`max_steps` may be 50 at most"), "{answer}");
        let (answer, is_error) = session.ask("validate", &json!({ "manifests": wrong, "detail": "json" })).await;
        assert!(is_error && answer.contains("longer than the 2000 bytes"), "{answer}");
        let (answer, is_error) = session.ask("validate", &json!({ "manifests": wrong, "detail": "full" })).await;
        assert!(!is_error && answer.len() < 2200 && answer.contains("lines are left out"), "{answer}");
        let (answer, is_error) = session.ask("run", &json!({})).await;
        assert!(is_error && answer.contains("there are no manifests"), "{answer}");
        let (answer, is_error) = session.ask("run", &json!({ "manifests": "a: [" })).await;
        assert!(answer.contains("yaml/") || is_error, "{answer}");
        let (answer, is_error) = session.ask("run", &json!({ "manifests": 7 })).await;
        assert!(is_error && answer.contains("`manifests` is a text"), "{answer}");
        let (answer, is_error) = session.ask("usage", &json!({ "per": "rack" })).await;
        assert!(is_error && answer.contains("class, model, node, namespace"), "{answer}");
        let (answer, is_error) = session.ask("run", &json!({ "manifests": claim })).await;
        assert!(!is_error, "{answer}");
        let unknown = session.peer.call_tool(arguments("delete", &json!({}))).await;
        assert!(unknown.unwrap_err().to_string().contains("there is no tool `delete`"));
    });
}

#[test]
fn what_cannot_be_read_is_said_at_the_start() {
    for (arguments, said) in [
        (["mcp", "no-such-folder/"], "`no-such-folder/` cannot be read"),
        (["mcp", "-"], "standard input carries the calls"),
    ] {
        let output = client::command(&arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(said), "{text}");
    }
}
