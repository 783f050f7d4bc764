//! The history on the page: periods, undo, comparison.

use super::*;

#[test]
fn changes_since_a_time_are_asked_for_as_on_the_command_line_and_nothing_typed_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.acting_as("<b>\u{202e}").create("/memories/b.md", "two\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();

    for asked in [
        "since=1h",
        "since=yesterday",
        "since=&preset=today",
        "since=nonsense&preset=7d",
        "preset=1h&zone=%2B14:00",
        "since=1970-01-01",
        "since=1w&zone=nonsense",
    ] {
        // A change just before midnight belongs to yesterday.
        let shown = page.get(&format!("/1/history?{asked}")).text();
        assert!(!shown.contains("since-problem"), "{asked}: {shown}");
        assert!(listed(&shown).len() == 2 || asked.contains("today"), "{asked}: {shown}");
        let question = page.get(&format!("/1/undo?{asked}")).text();
        assert!(question.contains("Everything that anyone changed since"), "{asked}: {question}");
    }
    let zones = [("", "UTC"), ("+05:30", "UTC+05:30"), ("-12:00", "UTC-12:00"), ("CET", "UTC")];
    for (zone, named) in zones {
        let asked = format!("since=2001-02-03+4:05&zone={}", encoded(zone));
        for place in ["history", "undo"] {
            let shown = page.get(&format!("/1/{place}?{asked}")).text();
            assert!(shown.contains(&format!("ince 2001-02-03 04:05:00 {named}.")), "{shown}");
        }
    }
    // A time without a zone is in the zone of the form: the UTC time of the last change is long before it, or after it, in other zones.
    let newest = memory.history(&memdir::history::HistoryQuery::default()).unwrap().remove(0);
    let time = serde_json::to_value(newest).unwrap()["time"].as_str().unwrap().replace('Z', "");
    for (zone, count) in [("", 1), ("+00:00", 1), ("+02:00", 2), ("-02:00", 0)] {
        let asked = format!("since={}&zone={}", encoded(&time), encoded(zone));
        let shown = page.get(&format!("/1/history?{asked}")).text();
        assert_eq!(listed(&shown).len(), count, "{zone}: {shown}");
    }

    for place in ["history", "undo"] {
        for typed in ["25:00", "2 hours", "yesterday 9", "\"><script>x</script>", "2026-13-01"] {
            let asked = format!("/1/{place}?actor=nobody&since={}&zone=%2B01:00", encoded(typed));
            let answer = page.get(&asked);
            let shown = answer.text();
            assert_eq!(answer.status, 200, "{shown}");
            assert!(shown.contains("This is not a time: use a time such as 14:30,"), "{shown}");
            assert!(shown.contains("aria-describedby=\"since-problem since-help\""), "{shown}");
            assert!(shown.contains("aria-invalid=\"true\""), "{shown}");
            let escaped = typed.replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
            assert!(shown.contains(&format!("name=\"since\" value=\"{escaped}\"")), "{shown}");
            assert!(shown.contains("value=\"+01:00\""), "{shown}");
            assert!(shown.contains("<option value=\"nobody\" selected>nobody<"), "{shown}");
            // Nothing is listed or done without a request.
            assert!(listed(&shown).is_empty() && !shown.contains("method=\"post\""), "{shown}");
        }
    }
    // Every actor can be selected, and hostile ones are escaped.
    let form = page.get("/1/undo").text();
    assert!(!form.contains("since-problem") && !form.contains("method=\"post\""), "{form}");
    let hostile = "<option value=\"&lt;b&gt;\u{202e}\">&lt;b&gt;⟨U+202E⟩<";
    for part in
        ["<option value=\"session 7\">session 7<", hostile, "<option value=\"\" selected>Anyone<"]
    {
        assert!(form.contains(part), "{part} in {form}");
    }
    assert!(page.get("/1/undo?since=").text().contains("Enter a time."));
}

#[test]
fn all_that_an_actor_did_is_undone_since_the_very_time_that_was_shown() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let other = memory.acting_as("session 8");
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    memory.create("/memories/a.md", "one\n").unwrap();
    other.create("/memories/b.md", "two\n").unwrap();
    let question = page.get("/1/undo?actor=session%207&since=1h&zone=-03:00").text();
    assert!(question.contains("deleted</span>") && question.contains("a.md"), "{question}");
    let form = question.split("method=\"post\"").nth(1).unwrap();
    let since = between(form, "name=\"since\" value=\"", "\"");
    assert!(since.starts_with("20") && since.ends_with('Z'), "{since}");
    let undone = page.post("/1/undo", &[("since", since), ("actor", "session 7")]);
    assert_eq!(undone.status, 303, "{}", undone.text());
    assert!(!memory.exists("/memories/a.md").unwrap());
    assert!(memory.exists("/memories/b.md").unwrap());
    let location = undone.header("location").unwrap();
    assert!(page.get(location).text().contains("Undone."), "{location}");

    // Conflicts with later changes are listed below the form, which keeps its input.
    other.create("/memories/c.md", "one\n").unwrap();
    memory.write("/memories/c.md", "two\n", None).unwrap();
    let asked = "/1/undo?actor=session%208&since=30m&zone=";
    let conflict = page.get(asked).text();
    assert!(conflict.contains("Later changes depend on it:"), "{conflict}");
    assert!(conflict.contains("name=\"since\" value=\"30m\""), "{conflict}");
    assert!(conflict.contains("<option value=\"session 8\" selected>"), "{conflict}");
    let refused = page.post("/1/undo", &[("since", "30m"), ("actor", "session 8")]);
    assert_eq!(refused.status, 200);
    assert!(refused.text().contains("Later changes depend on it:"));
    for since in ["", "nonsense"] {
        let refused = page.post("/1/undo", &[("since", since), ("actor", "session 8")]);
        assert_eq!(refused.status, 200, "{since}");
        assert!(refused.text().contains("since-problem"), "{since}");
    }
    assert_eq!(memory.read("/memories/c.md").unwrap(), "two\n");
}

#[test]
fn links_of_lists_are_named_by_what_they_are_about() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/notes.md", "one\n").unwrap();
    memory.str_replace("/memories/notes.md", "one", "two").unwrap();
    memory.create("/memories/dir/a.md", "a\n").unwrap();
    memory.create("/memories/dir/\"b\u{200b}.md", "b\n").unwrap();
    memory.delete("/memories/dir").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let shown = page.get("/1/history").text();
    let hostile = "dir/&quot;b⟨U+200B⟩.md";
    for name in [
        "Undo the deletion of 2 files by session 7".to_owned(),
        "Undo the edit of notes.md by session 7".to_owned(),
        format!("Undo the creation of {hostile} by session 7"),
        "Version after the edit of notes.md by session 7".to_owned(),
        "What changed: the creation of notes.md by session 7".to_owned(),
        "Restore notes.md as it was after the creation by session 7".to_owned(),
        "Redact notes.md as it was after the creation by session 7".to_owned(),
        format!("Restore {hostile} as it was before the deletion by session 7"),
    ] {
        assert!(shown.contains(&format!("aria-label=\"{name}\"")), "{name} in {shown}");
    }
    // Every link of a version has such a name, and is described by its time, which occurs once.
    for word in ["Undo", "Version", "Restore", "Redact", "What changed"] {
        for link in shown.split(&format!(">{word}<")).collect::<Vec<_>>().split_last().unwrap().1 {
            let tag = &link[link.rfind('<').unwrap()..];
            assert!(tag.contains(&format!("aria-label=\"{word}")), "{tag}");
            let when = between(tag, "aria-describedby=\"", "\"");
            assert_eq!(shown.matches(&format!(" id=\"{when}\"")).count(), 1, "{tag}");
        }
    }
    let overview = page.get("/1/").text();
    let deleted = overview.split("id=\"deleted\"").nth(1).unwrap();
    assert!(
        deleted
            .contains("aria-label=\"Restore dir/a.md as it was before the deletion by session 7\"")
    );
    let gone = page.post("/1/delete", &[("path", "/memories/notes.md")]);
    let banner = page.get(gone.header("location").unwrap()).text();
    assert!(banner.contains("aria-label=\"Undo the deletion of notes.md by Ann\""), "{banner}");
}

#[test]
fn each_line_of_a_file_leads_to_the_version_that_brought_it() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let [ann, ben] = ["Ann", "Ben"].map(|actor| memory.acting_as(actor));
    ann.create("/memories/a.md", "# one\n- two\n").unwrap();
    ben.insert("/memories/a.md", 2, "- three\n- <b>four</b>\n").unwrap();
    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let rendered = page.get("/1/file?path=/memories/a.md").text();
    assert!(rendered.contains("view=blame\">Blame</a>"), "{rendered}");
    assert!(!rendered.contains("class=\"origin\""), "{rendered}");
    let shown = page.get("/1/file?path=/memories/a.md&view=blame").text();
    let origins: Vec<&str> = shown.split("<span class=\"origin\">").skip(1).collect();
    assert_eq!(origins.len(), 4, "{shown}");
    // Once for consecutive lines.
    for (origin, version) in
        [(0, Some(&versions[1])), (1, None), (2, Some(&versions[0])), (3, None)]
    {
        let origin = origins[origin];
        match version {
            None => assert!(origin.starts_with("</span>"), "{origin}"),
            Some(version) => {
                assert_eq!(between(origin, "version?id=", "\""), version.id.to_string());
                let actor = version.actor.as_deref().unwrap();
                assert!(origin.split("</span>").next().unwrap().contains(actor), "{origin}");
            }
        }
    }
    assert!(shown.contains("&lt;b&gt;four"), "{shown}");
    // A later change by another program.
    std::fs::write(place.path().join("memories/a.md"), "theirs\n- two\n").unwrap();
    let shown = page.get("/1/file?path=/memories/a.md&view=blame").text();
    let origins: Vec<&str> = shown.split("<span class=\"origin\">").skip(1).collect();
    assert!(origins[0].contains("not recorded") && origins[1].contains("Ann"), "{shown}");
    // Without a history there is nothing to show.
    let other = tempfile::tempdir().unwrap();
    let plain = Memory::open(other.path().to_str().unwrap(), MemoryOptions::default()).unwrap();
    plain.create("/memories/a.txt", "one\n").unwrap();
    let page = Page::open(&[other.path().to_str().unwrap()], &[]);
    for view in ["", "&view=blame"] {
        let shown = page.get(&format!("/1/file?path=/memories/a.txt{view}")).text();
        assert!(!shown.contains("Blame") && !shown.contains("class=\"origin\""), "{shown}");
    }
}

#[test]
fn what_was_changed_since_is_named_and_left_out_or_merged() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let [ann, ben] = ["Ann", "Ben"].map(|actor| memory.acting_as(actor));
    memory.create("/memories/a.md", "1\n2\n3\n4\n5\n").unwrap();
    ann.str_replace("/memories/a.md", "1", "one").unwrap();
    ben.str_replace("/memories/a.md", "5", "five").unwrap();
    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let (later, change) = (&versions[0], versions[1].change.to_string());
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let refused = page.get(&format!("/1/undo?id={change}")).text();
    assert!(refused.contains("Later changes depend on it:"), "{refused}");
    assert!(refused.contains(&format!("version?id={}", later.change)), "{refused}");
    assert!(refused.contains("actor=Ben"), "{refused}");
    let merge = format!("/1/undo?id={change}&merge=1");
    assert!(refused.contains(&merge.replace('&', "&amp;")), "{refused}");
    let preview = page.get(&merge).text();
    assert!(preview.contains("keeps later changes to other lines"), "{preview}");
    assert!(preview.contains("name=\"merge\" value=\"1\""), "{preview}");
    let skip = page.get(&format!("/1/undo?id={change}&skip=1")).text();
    assert!(skip.contains("Left out, because later changes depend on it:"), "{skip}");
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one\n2\n3\n4\nfive\n");
    // Without the option it is refused.
    let refused = page.post("/1/undo", &[("id", &change)]).text();
    assert!(refused.contains("Nothing was changed"), "{refused}");
    page.post("/1/undo", &[("id", &change), ("merge", "1")]);
    assert_eq!(memory.read("/memories/a.md").unwrap(), "1\n2\n3\n4\nfive\n");
}

#[test]
fn two_versions_of_a_file_are_compared_at_an_address_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    for count in 0..55 {
        memory.write("/memories/a.md", &format!("kept\n{count}\n"), None).unwrap();
    }
    memory.create("/memories/b/c.md", "c\n").unwrap();
    memory.create("/memories/b/d.md", "d\n").unwrap();
    memory.delete("/memories/b").unwrap();
    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    assert!(!page.get("/1/history").text().contains("type=\"radio\""));
    assert!(!page.get("/1/history?path=/memories/b").text().contains("type=\"radio\""));
    let shown = page.get("/1/history?path=/memories/a.md").text();
    let checked = |shown: &str| -> Vec<String> {
        let radios = shown
            .split("<input type=\"radio\"")
            .skip(1)
            .map(|rest| rest.split('>').next().unwrap());
        let checked = radios.filter(|radio| radio.contains(" checked"));
        checked
            .map(|radio| {
                format!("{} {}", between(radio, "name=\"", "\""), between(radio, "value=\"", "\""))
            })
            .collect()
    };
    let ids = listed(&shown);
    assert_eq!(ids.len(), 50);
    assert_eq!(checked(&shown), [format!("other {}", ids[0]), format!("id {}", ids[1])]);

    // Both sides, in both layouts, from the older to the newer one, whichever is named first.
    let (new, old) = (ids[0], ids[49]);
    for (one, two) in [(old, new), (new, old)] {
        for layout in ["inline", "side"] {
            let address =
                format!("/1/compare?path=/memories/a.md&id={one}&other={two}&diff={layout}");
            let answer = page.get(&address);
            let shown = answer.text();
            assert_eq!(answer.status, 200, "{shown}");
            let (removed, added) = (
                shown.find("<code><bdi>5</bdi>").unwrap(),
                shown.find("<code><bdi>54</bdi>").unwrap(),
            );
            assert!(removed < added && shown.contains("kept"), "{shown}");
            assert_eq!(shown.contains("<table class=\"side\""), layout == "side");
            let other = if layout == "side" { "inline" } else { "side" };
            assert!(
                shown.contains(&format!("compare?id={old}&amp;other={new}&amp;diff={other}")),
                "{shown}"
            );
        }
    }
    // The selection is kept on a page of older versions.
    let further =
        format!("/1/history?path=/memories/a.md&before={old}&id={}&other={}", ids[7], ids[3]);
    let further = page.get(&further).text();
    assert_eq!(listed(&further).len(), 5);
    assert_eq!(checked(&further), [format!("id {}", ids[7]), format!("other {}", ids[3])]);
    assert!(further.contains("chosen on another page"), "{further}");
    // A deletion is a version without content.
    let deletion = versions
        .iter()
        .find(|version| version.size.is_none() && version.path.as_str().ends_with("c.md"))
        .unwrap();
    let creation = versions.iter().rfind(|version| version.path == deletion.path).unwrap();
    let shown = page.get(&format!("/1/compare?id={}&other={}", creation.id, deletion.id)).text();
    assert!(shown.contains("class=\"removed\""), "{shown}");

    let unknown = "01990a3c-7c00-7123-8456-789abc000001";
    for (asked, sentence) in [
        (String::new(), "One version alone cannot be compared."),
        (format!("id={new}"), "One version alone cannot be compared."),
        (format!("other={new}"), "&quot;&quot; is not the id of a version or a change."),
        (
            format!("id={new}&other=x%3Cb%3E"),
            "&quot;x&lt;b&gt;&quot; is not the id of a version or a change.",
        ),
        (format!("id={unknown}&other={new}"), "there is no version or change 01990a3c"),
        (format!("id={new}&other={new}"), "Both are the same version."),
        (format!("id={new}&other={}", deletion.change), "This change made several versions"),
    ] {
        for path in ["", "&path=/memories/a.md", "&path=../x"] {
            let answer = page.get(&format!("/1/compare?{asked}{path}"));
            let shown = answer.text();
            assert_eq!(answer.status, 404, "{asked}: {shown}");
            assert!(shown.contains(sentence), "{asked}: {shown}");
            assert!(shown.contains("Timeline") && shown.contains("Nothing to compare"), "{shown}");
        }
    }
    // A redacted version cannot be selected, and an address that names it does not show its content.
    memory.redact(versions[versions.len() - 2].id, "held a password").unwrap();
    let redacted = versions[versions.len() - 2].id.to_string();
    let shown = page.get(&format!("/1/compare?id={redacted}&other={new}"));
    assert_eq!(shown.status, 404);
    assert!(shown.text().contains("the content was redacted: held a password"));
    let further = page.get(&format!("/1/history?path=/memories/a.md&before={old}")).text();
    assert!(!further.contains(&format!("type=\"radio\" name=\"id\" value=\"{redacted}")));
}

#[test]
fn a_secret_is_redacted_in_all_versions_that_have_it() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let secret = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    memory.create("/memories/a.md", &format!("# keys\ntoken {secret}\n")).unwrap();
    for number in 0..3 {
        memory.insert("/memories/a.md", 0, &format!("{number}\n")).unwrap();
    }
    memory.create("/memories/b.md", &format!("<b>{secret}\n")).unwrap();
    memory.delete("/memories/b.md").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    // From the findings of the rules. No address contains the secret itself.
    let sensitive = page.get("/1/sensitive").text();
    let address = between(&sensitive, "<a class=\"quiet\" href=\"", "\"").replace("&amp;", "&");
    assert!(address.starts_with("/1/redact?path=/memories/a.md&from=5&rule="), "{address}");
    assert!(!sensitive.contains(&secret), "{sensitive}");
    let asked = page.get(&address).text();
    // Three earlier contents of one file, and that of another one.
    assert!(asked.contains("Redact it in all 4 versions?"), "{asked}");
    assert!(asked.contains("These files contain it now"), "{asked}");
    assert!(asked.contains("&lt;b&gt;") && !asked.contains("<b>ghp"), "{asked}");

    // From a search, when no file contains it now.
    memory.str_replace("/memories/a.md", &format!("token {secret}"), "token").unwrap();
    let past = page.get(&format!("/1/search?q={secret}&past=1")).text();
    assert!(past.contains("Redact in all past versions"), "{past}");
    let asked = page.get(&format!("/1/redact?path=/memories&q={secret}")).text();
    assert!(asked.contains("Redact it in all 5 versions?"), "{asked}");
    assert!(!asked.contains("These files contain it now"), "{asked}");
    let ids = between(&asked, "name=\"ids\" value=\"", "\"");
    assert_eq!(ids.split(',').count(), 5);
    let post = |ids: &str, reason: &str| {
        page.post("/1/redact", &[("q", &secret), ("ids", ids), ("reason", reason)])
    };
    let refused = post(ids, "");
    assert!(refused.text().contains("Enter a reason"), "{}", refused.text());
    assert_eq!(post("x", "x").status, 400);
    assert_eq!(page.post("/1/redact", &[("ids", ids), ("reason", "x")]).status, 400);
    // Other versions have it since the question.
    let refused = post(&ids[37..], "x");
    assert!(refused.text().contains("check the list again"), "{}", refused.text());
    let done = post(ids, "a token");
    assert_eq!(done.status, 303, "{}", done.text());
    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let redacted = versions.iter().filter(|version| version.redacted.is_some()).count();
    assert_eq!(redacted, 5);
    for version in &versions {
        let left = memory.read_version(version.id).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&left).contains("ghp_"), "{version:?}");
    }
    let asked = page.get(&format!("/1/redact?path=/memories&q={secret}")).text();
    assert!(asked.contains("Nothing to redact"), "{asked}");
    // The page reports the change in between.
    assert_eq!(page.get(&address).status, 404);
}

#[test]
fn a_redaction_by_rule_also_takes_the_text_from_names() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let secret = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    memory.create(&format!("/memories/old/{secret}.md"), "nothing\n").unwrap();
    memory.delete("/memories/old").unwrap();
    memory.create("/memories/a.md", &format!("token {secret}\n")).unwrap();
    memory.insert("/memories/a.md", 0, "# keys\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let sensitive = page.get("/1/sensitive").text();
    let address = between(&sensitive, "<a class=\"quiet\" href=\"", "\"").replace("&amp;", "&");
    let living = format!("/memories/{secret}-now.md");
    memory.create(&living, "nothing\n").unwrap();
    let asked = page.get(&address).text();
    assert!(asked.contains("Redact it in 1 version?"), "{asked}");
    assert!(asked.contains("<strong>1 name</strong>"), "{asked}");
    assert!(asked.contains("Rename or delete them"), "{asked}");
    let value = |name: &str| between(&asked, &format!("name=\"{name}\" value=\""), "\"").to_owned();
    let fields = ["path", "from", "rule", "ids"].map(|name| (name, value(name)));
    let mut fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (*name, &**value)).collect();
    fields.push(("reason", "a token"));
    let done = page.post("/1/redact", &fields);
    assert_eq!(done.status, 303, "{}", done.text());

    // The name without a file is gone; current texts stay, in the file and in its name.
    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let named = versions.iter().filter(|version| version.path.as_str().contains(&secret));
    assert!(named.clone().all(|version| version.path.as_str() == living), "{versions:?}");
    assert_eq!(named.count(), 1);
    assert!(versions.iter().any(|version| version.path.as_str().contains("/old/redacted-")));
    assert!(memory.read("/memories/a.md").unwrap().contains(&secret));
    let with_secret = versions.iter().filter(|version| {
        let content = memory.read_version(version.id).unwrap_or_default();
        String::from_utf8_lossy(&content).contains(&secret)
    });
    assert_eq!(with_secret.map(|version| version.is_current).collect::<Vec<_>>(), [true]);
    // Then only names are left to redact: those that a file has until it is deleted.
    memory.delete(&living).unwrap();
    let asked = page.get(&address).text();
    assert!(asked.contains("Redact it in names?"), "{asked}");
    let fields = [("ids", ""), ("q", &*secret), ("reason", "a token")];
    assert_eq!(page.post("/1/redact", &fields).status, 303);
    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    assert!(!versions.iter().any(|version| version.path.as_str().contains(&secret)));
}
